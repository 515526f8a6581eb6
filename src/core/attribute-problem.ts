/** Why a queue attribute is refused. The surfaces word it in their own errors files. */
export type AttributeProblem =
  /** A name SQS does not know, or one that only FIFO queues have. */
  | { readonly kind: 'unknown-name'; readonly name: string; readonly message: string }
  /** The value is out of range or of the wrong type. */
  | { readonly kind: 'bad-value'; readonly name: string; readonly message: string }
  /** A redrive policy of the right form, refused for what it says; SQS gives it another code than `bad-value`. */
  | { readonly kind: 'bad-policy'; readonly name: string; readonly message: string };

export interface ProblemOutcome {
  readonly kind: 'problem';
  readonly problem: AttributeProblem;
}

export function badValue(name: string, reason?: string): ProblemOutcome {
  const message = `Invalid value for the parameter ${name}.${reason === undefined ? '' : ` Reason: ${reason}`}`;
  return { kind: 'problem', problem: { kind: 'bad-value', name, message } };
}

export function unknownName(name: string, message = `Unknown Attribute ${name}.`): ProblemOutcome {
  return { kind: 'problem', problem: { kind: 'unknown-name', name, message } };
}
