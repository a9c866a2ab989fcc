/**
 * What owns a stream, a receipt or a verifier. Clients choose many ids, so the same UUID may name owners
 * of several kinds: an id without its kind names none.
 */
export interface Owner<Kind extends string = string> {
  readonly kind: Kind;
  readonly id: string;
}
