/** The programs whose comments the operator can import as notes. */
export const IMPORT_SOURCES = ['isso', 'disqus', 'commento', 'remark42', 'wordpress'] as const;

export type ImportSource = (typeof IMPORT_SOURCES)[number];
