/** Why a request is not let in; the types are rows of errors.ts. Messages never carry a signature or a secret. */
export interface SignatureFault {
  readonly kind: 'fault';
  readonly type:
    | 'InvalidClientTokenId'
    | 'SignatureDoesNotMatch'
    | 'IncompleteSignature'
    | 'MissingAuthenticationToken';
  readonly message: string;
}
