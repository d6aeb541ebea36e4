BEGIN TRANSACTION;
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  run_id TEXT NOT NULL,
  started_at REAL NOT NULL,
  base_url TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  cid TEXT NOT NULL,
  action TEXT NOT NULL,
  status TEXT NOT NULL,
  params TEXT,
  response TEXT,
  logs TEXT NOT NULL,
  error_type TEXT NOT NULL,
  error TEXT NOT NULL,
  elapsed REAL NOT NULL,
  cost_cents INTEGER NOT NULL,
  trigger_id TEXT NOT NULL DEFAULT ''
);
INSERT INTO "runs" VALUES(1,'client','r1',1700000000.0,'','','Qm','add','success','null','1','','','',2.5,2,'');
CREATE UNIQUE INDEX runs_by_id ON runs (source, run_id) WHERE run_id <> '';
CREATE INDEX runs_by_time ON runs (started_at);
CREATE INDEX runs_by_action ON runs (cid, started_at);
COMMIT;
PRAGMA user_version = 0;
