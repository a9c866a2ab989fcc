/** How waiting notes of guests are alike: in their text, or in the address that they came from. */
export const FOLD_KINDS = ['text', 'address'] as const;
export type FoldKind = (typeof FOLD_KINDS)[number];
