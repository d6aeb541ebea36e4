-- The tables of state version 2 as a toolkit made them in SQLite, before they were written down in plain SQL.
CREATE TABLE meta (
	name VARCHAR NOT NULL,
	value VARCHAR NOT NULL,
	PRIMARY KEY (name)
);
CREATE TABLE recent_times (
	what VARCHAR(32) NOT NULL,
	who VARCHAR(128) NOT NULL,
	at FLOAT NOT NULL
);
CREATE TABLE executions (
	id INTEGER NOT NULL,
	request_id VARCHAR(64) NOT NULL,
	correlation_id TEXT NOT NULL,
	cid VARCHAR(64) NOT NULL,
	api_key_hash VARCHAR(66) NOT NULL,
	billing_wallet VARCHAR(42) NOT NULL,
	status VARCHAR(16) NOT NULL,
	http_status INTEGER NOT NULL,
	error TEXT,
	error_kind VARCHAR(32),
	logs TEXT NOT NULL,
	trace TEXT,
	cost_cents INTEGER NOT NULL,
	started_at FLOAT NOT NULL,
	elapsed_ms FLOAT NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (request_id)
);
CREATE TABLE ledger_entries (
	id INTEGER NOT NULL,
	account VARCHAR(42) NOT NULL,
	cents BIGINT NOT NULL CHECK (cents <> 0),
	kind VARCHAR(16) NOT NULL,
	reason TEXT NOT NULL,
	reference VARCHAR(160) NOT NULL,
	request_id VARCHAR(64),
	at FLOAT NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (reference)
);
CREATE TABLE ledger_balances (
	account VARCHAR(42) NOT NULL,
	cents BIGINT NOT NULL,
	PRIMARY KEY (account)
);
CREATE TABLE ledger_holds (
	holder VARCHAR NOT NULL,
	held TEXT NOT NULL,
	PRIMARY KEY (holder)
);
CREATE TABLE processor_customers (
	wallet VARCHAR(42) NOT NULL,
	id VARCHAR(64) NOT NULL,
	email TEXT,
	created_at FLOAT NOT NULL,
	PRIMARY KEY (wallet),
	UNIQUE (id)
);
CREATE TABLE leases (
	name VARCHAR NOT NULL,
	holder VARCHAR NOT NULL,
	PRIMARY KEY (name)
);
CREATE TABLE chain_journal (
	position INTEGER NOT NULL,
	kind VARCHAR(16) NOT NULL,
	timestamp BIGINT NOT NULL,
	payload BLOB NOT NULL,
	digest BLOB NOT NULL,
	withdrawn BOOLEAN NOT NULL,
	block_hash VARCHAR(66),
	PRIMARY KEY (position)
);
CREATE TABLE chain_journal_cut (
	id INTEGER NOT NULL,
	position INTEGER NOT NULL,
	kind VARCHAR(16),
	timestamp BIGINT,
	payload BLOB,
	digest BLOB,
	PRIMARY KEY (id)
);
CREATE TABLE chain_dumps (
	position INTEGER NOT NULL,
	digest BLOB NOT NULL,
	timestamp BIGINT NOT NULL,
	block_hash VARCHAR(66) NOT NULL,
	content BLOB NOT NULL,
	content_sha256 BLOB NOT NULL,
	PRIMARY KEY (position)
);
CREATE TABLE chain_snapshots (
	name VARCHAR NOT NULL,
	content BLOB NOT NULL,
	PRIMARY KEY (name)
);
CREATE TABLE snapshots (
	name VARCHAR(200) NOT NULL,
	taken_at FLOAT NOT NULL,
	clock VARCHAR NOT NULL,
	randomness VARCHAR NOT NULL,
	content BLOB NOT NULL,
	chain BLOB NOT NULL,
	PRIMARY KEY (name)
);
CREATE TABLE trigger_users (
	id VARCHAR NOT NULL,
	email VARCHAR NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (email)
);
CREATE TABLE processor_intents (
	id VARCHAR(64) NOT NULL,
	wallet VARCHAR(42) NOT NULL,
	client_secret VARCHAR(160) NOT NULL,
	amount_cents BIGINT NOT NULL,
	status VARCHAR(32) NOT NULL,
	method VARCHAR(16),
	becomes VARCHAR(32),
	due_at FLOAT,
	problem_code VARCHAR(64),
	problem TEXT,
	created_at FLOAT NOT NULL,
	updated_at FLOAT NOT NULL,
	credited_at FLOAT,
	PRIMARY KEY (id),
	FOREIGN KEY(wallet) REFERENCES processor_customers (wallet)
);
CREATE TABLE trigger_tokens (
	seq INTEGER NOT NULL,
	id VARCHAR NOT NULL,
	challenge VARCHAR NOT NULL,
	user_id VARCHAR NOT NULL,
	label TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	last_used_at FLOAT,
	revoked_at FLOAT,
	PRIMARY KEY (seq),
	UNIQUE (id),
	UNIQUE (challenge),
	FOREIGN KEY(user_id) REFERENCES trigger_users (id) ON DELETE CASCADE
);
CREATE TABLE triggers (
	seq INTEGER NOT NULL,
	id VARCHAR NOT NULL,
	user_id VARCHAR NOT NULL,
	name TEXT NOT NULL,
	kind VARCHAR NOT NULL,
	action_code TEXT NOT NULL,
	action_cid VARCHAR NOT NULL,
	default_params TEXT NOT NULL,
	sealed_usage_key TEXT NOT NULL,
	account_address TEXT,
	max_runs_per_minute INTEGER,
	max_queued_runs INTEGER,
	config TEXT NOT NULL,
	enabled BOOLEAN NOT NULL,
	created_at FLOAT NOT NULL,
	updated_at FLOAT NOT NULL,
	watermark FLOAT NOT NULL,
	next_block BIGINT,
	last_block_hash VARCHAR,
	PRIMARY KEY (seq),
	UNIQUE (id),
	FOREIGN KEY(user_id) REFERENCES trigger_users (id) ON DELETE CASCADE
);
CREATE TABLE trigger_runs (
	seq INTEGER NOT NULL,
	id VARCHAR NOT NULL,
	trigger_id VARCHAR NOT NULL,
	source VARCHAR NOT NULL,
	status VARCHAR NOT NULL,
	attempt INTEGER NOT NULL,
	interruptions INTEGER NOT NULL,
	input TEXT,
	response TEXT,
	error TEXT,
	started_at FLOAT NOT NULL,
	finished_at FLOAT,
	next_attempt_at FLOAT,
	PRIMARY KEY (seq),
	UNIQUE (id),
	FOREIGN KEY(trigger_id) REFERENCES triggers (id) ON DELETE CASCADE
);
CREATE INDEX recent_times_by_whom ON recent_times (what, who, at);
CREATE INDEX executions_by_time ON executions (started_at);
CREATE INDEX ledger_entries_by_account ON ledger_entries (account, id);
CREATE INDEX ix_processor_intents_wallet ON processor_intents (wallet);
CREATE INDEX ix_triggers_kind ON triggers (kind);
CREATE INDEX ix_triggers_user_id ON triggers (user_id);
CREATE INDEX trigger_runs_history ON trigger_runs (trigger_id, seq);
CREATE INDEX trigger_runs_rate ON trigger_runs (trigger_id, source, started_at);
CREATE INDEX trigger_runs_open ON trigger_runs (trigger_id, seq) WHERE finished_at IS NULL;
