import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { RECORD_TYPES } from '../publications/words.ts';

/** What moderators decide and comment on. */
export const SUBJECT_TYPES = ['note', ...RECORD_TYPES, 'member'] as const;

/** A note, a record that was published without review, or a membership. */
export interface Subject {
  type: (typeof SUBJECT_TYPES)[number];
  id: string;
}

/** A key for maps of subjects. */
export const subjectKey = ({ type, id }: Subject): string => `${type} ${id}`;

/** The topic of the notifications for moderators' consoles. */
export const MODERATION_TOPIC = 'moderation';

const REVIEWED =
  /^(note|screening|report|review|subject|moderator|policy|comment|claim|fold|disabling)-/;

const RECORD = /^(profile|artifact|case)-/;

/**
 * Whether moderators' consoles are notified of the event: events on notes, reports, moderators,
 * policies, comments, claims, folds and disabled memberships, and moderators' events on records.
 */
export function isReview({
  stream_id,
  actor,
}: Pick<RecordedEvent, 'stream_id' | 'actor'>): boolean {
  return REVIEWED.test(stream_id) || (actor.type === 'moderator' && RECORD.test(stream_id));
}

/** The subject of a stream; for a stream of reports, comments, claims or folds, their item. */
export function reviewSubject(streamId: string): { type: string; id: string } {
  const [, type = '', id = ''] =
    /^(.*?)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z0-9_]+)$/.exec(streamId) ?? [];
  return {
    type: type
      .replace(/^(report|comment|claim|fold)-/, '')
      .replace('case-note', 'case_note')
      .replace('disabling', 'member'),
    id,
  };
}
