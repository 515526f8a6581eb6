/** Why a node cannot start, in words for the operator: printed without a stack, exit code 1. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}
