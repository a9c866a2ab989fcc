import type { OwnerKind } from '../domain/owners.ts';
import type { Owner } from '../platform/eventstore/owner.ts';

/**
 * The kinds of streams, and the kinds of their owners. The name of a stream is its kind and the id of its subject:
 * `case-note-<id>`. What concerns a note belongs to its member, or to the note itself if a guest wrote it.
 */
const OWNERS_BY_STREAM: Readonly<Record<string, readonly OwnerKind[]>> = {
  member: ['member'],
  disabling: ['member'],
  session: ['member'],
  credential: ['member'],
  passkey: ['member'],
  profile: ['member'],
  artifact: ['member'],
  case: ['member'],
  'case-note': ['member'],
  'report-profile': ['member'],
  'report-artifact': ['member'],
  'report-case': ['member'],
  'report-case_note': ['member'],
  'comment-member': ['member'],
  'comment-profile': ['member'],
  'comment-artifact': ['member'],
  'comment-case': ['member'],
  'comment-case_note': ['member'],
  'claim-member': ['member'],
  'claim-profile': ['member'],
  'claim-artifact': ['member'],
  'claim-case': ['member'],
  'claim-case_note': ['member'],
  note: ['member', 'guest_note'],
  screening: ['member', 'guest_note'],
  telling: ['member', 'guest_note'],
  'comment-note': ['member', 'guest_note'],
  'claim-note': ['member', 'guest_note'],
  'fold-note': ['guest_note'],
  moderator: ['moderator'],
  'moderator-session': ['moderator'],
  policy: ['service'],
  queue: ['service'],
  operations: ['service'],
};

const UUID = /-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A stream of the service is named after a word, such as the code of a policy; any other after an id. */
const kindOf = (stream: string): string =>
  UUID.test(stream) ? stream.replace(UUID, '') : (stream.split('-')[0] ?? '');

/** Whether an owner of this kind may own a stream of this name. */
export function mayOwn({ kind }: Owner, stream: string): boolean {
  const kinds: readonly string[] = OWNERS_BY_STREAM[kindOf(stream)] ?? [];
  return kinds.includes(kind);
}

/** The kinds of streams that an owner of this kind may own. */
export const streamKindsOf = (kind: OwnerKind): string[] =>
  Object.keys(OWNERS_BY_STREAM).filter((stream) => OWNERS_BY_STREAM[stream]?.includes(kind));
