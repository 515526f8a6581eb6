/**
 * What a listener asks of whoever answers its requests: one value in, one value out. A surface (SQS now, HTTP/JSON
 * later) is mounted by converting its own handler to this.
 */

export interface HttpHead {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** Lower-case names in the order received; a name that came twice is there twice. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export interface HttpRequest extends HttpHead {
  readonly body: Uint8Array;
  /** Fires when the client has gone or the server stops: whatever waits must end. */
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** For the metrics; absent when the request was not understood that far. */
  readonly action?: string | undefined;
  /** Called at most once, when no complete answer reached the socket. */
  readonly undelivered?: (() => Promise<void>) | undefined;
}

export type HttpHandler = (request: HttpRequest) => Promise<HttpAnswer>;

/** Why the listener itself answers, before any handler saw a request. */
export type HttpProblem =
  /** Not HTTP, or HTTP that no two readers would read alike. */
  | { readonly kind: 'broken' }
  | { readonly kind: 'headers-too-large'; readonly maximumBytes: number }
  | { readonly kind: 'body-too-large'; readonly maximumBytes: number }
  | { readonly kind: 'too-slow' }
  /** A bound of this node was reached; the same request may succeed in a moment. */
  | { readonly kind: 'overloaded' }
  | { readonly kind: 'stopping' }
  /** The handler failed by our own mistake. */
  | { readonly kind: 'failed' };

/** How a surface words the listener's own answers; `head` is there when the request came that far. */
export type ProblemAnswer = (problem: HttpProblem, head?: HttpHead) => HttpAnswer;
