import type { RecordedEvent } from '../eventstore/event.ts';

const REVIEWED = /^(note|screening|report|review|subject|moderator|policy)-/;

/** What moderators' consoles are told of: notes, reports, moderators and policies. */
export function isReview({ stream_id }: Pick<RecordedEvent, 'stream_id'>): boolean {
  return REVIEWED.test(stream_id);
}
