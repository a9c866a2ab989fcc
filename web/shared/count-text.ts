import { MAX_COUNTED } from '../../domain/publications/words.ts';

/** A count as a reader sees it: the service counts no further than `MAX_COUNTED`. */
export const countText = (count: number): string =>
  count < MAX_COUNTED ? String(count) : '1,000 or more';

/** The number of replies to a note, as a reader sees it. */
export const repliesText = (count: number): string =>
  count === 1 ? '1 reply' : `${countText(count)} replies`;
