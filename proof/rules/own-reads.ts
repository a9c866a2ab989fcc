import type { OwnRead } from '../history.ts';

/** A member that reads a case after its own acknowledged write sees that write or a later state. */
export const ownWritesRead = (reads: readonly OwnRead[]): string[] =>
  reads.flatMap(({ path, written, read }) =>
    read < written ? [`GET ${path}: version ${read} after its reader had written ${written}`] : [],
  );
