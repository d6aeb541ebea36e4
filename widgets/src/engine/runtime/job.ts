/** Job that the host sends to start a run. */

/** Names of the interface, which follow from the service's name. The warm-up of a spare uses them. */
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
  /** Maximum length of the JSON text of a call to the host. */
  readonly maxCallBytes: number;
  /** Maximum length of the body of an action's request. */
  readonly maxRequestBytes: number;
}
