/** What the host sends to start a run. */

/** The names of the interface, which a spare is warmed with; they follow from the service's name. */
export interface Names {
  readonly namespace: string;
  readonly actions: string;
  readonly auth: string;
  readonly headers: string;
  readonly privateKey: string;
  readonly actionPrivateKey: string;
  readonly actionPublicKey: string;
  readonly actionWalletAddress: string;
}

export interface Job {
  readonly source: string;
  /** JSON text of the parameters. */
  readonly params: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxResponseBytes: number;
  readonly maxLogBytes: number;
  /** Longest JSON text of a call to the host. */
  readonly maxCallBytes: number;
  /** Longest body of a request that the action makes. */
  readonly maxRequestBytes: number;
}
