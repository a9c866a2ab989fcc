import type { ImportSource } from '../../domain/guestbook/words.ts';

/** A comment as the export of a program has it. Neither addresses of mail nor of the network are read. */
export interface SourceComment {
  /** Its id in the file, by which replies name it. */
  ref: string;
  /** The `ref` of the comment that it replies to. */
  parent: string | null;
  /** What names the comment in every export of this program: the site, where the export has it, and its id. */
  identity: readonly string[];
  /** The page that was commented on. */
  thread: string;
  name: string;
  text: string;
  /** Whether `text` is HTML. */
  html: boolean;
  /** In milliseconds of Unix time; NaN if the export has no valid time. */
  writtenAt: number;
  state: 'published' | 'pending' | 'spam' | 'deleted' | 'no comment';
}

export type Reader = (path: string) => AsyncIterable<SourceComment> | Iterable<SourceComment>;

/** The reader of each program's exports, loaded only when it is needed. */
export const READERS: Readonly<Record<ImportSource, () => Promise<Reader>>> = {
  isso: async () => (await import('./isso.ts')).readIsso,
  disqus: async () => (await import('./disqus.ts')).readDisqus,
  commento: async () => (await import('./commento.ts')).readCommento,
  remark42: async () => (await import('./remark42.ts')).readRemark42,
  wordpress: async () => (await import('./wordpress.ts')).readWordpress,
};

/** The file is not an export of the program that was named, or is damaged. */
export class UnreadableExport extends Error {
  override readonly name = 'UnreadableExport';
}

/** The most characters of a name or text that are kept while a file is read. */
export const MAX_KEPT_CHARACTERS = 65_536;

/** The most characters of one comment of a file: what an export holds in memory is bounded by it. */
export const MAX_COMMENT_CHARACTERS = 16_000_000;

/** A value of JSON that should be a text; numbers are ids in some exports. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, MAX_KEPT_CHARACTERS);
  return typeof value === 'number' ? String(value) : '';
}

/** Milliseconds of a time in ISO 8601 with a zone, or `YYYY-MM-DD HH:MM:SS` in UTC; NaN for all others. */
export function toTime(text: string): number {
  const [, day, time, zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,9})?)(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  return day ? Date.parse(`${day}T${time?.slice(0, 12)}${zone}`) : Number.NaN;
}
