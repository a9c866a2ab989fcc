import { LEADS } from '../../../domain/moderation/roles.ts';
import type { RecordType } from '../../../domain/publications/words.ts';
import { reportsStream } from '../../../domain/reports/reports.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import type { Reads } from '../../../platform/postgres/reads.ts';
import { isRefusal, refuse } from '../../../platform/refusal.ts';
import type { Sql } from '../../../platform/sql.ts';
import { noteOwners } from '../../../projections/guestbook/notes.ts';
import { moderatorNames } from '../../../projections/moderation/moderators.ts';
import { recordAuthors } from '../../../projections/publications/records.ts';
import type { PublicationKind } from '../../publications/publication-kind.ts';
import { takeOverStream } from '../claims/leases.ts';
import { itemBodies } from '../queue/item-bodies.ts';
import { itemsById } from '../queue/item-rows.ts';
import { recordItemBody, withReports } from '../queue/record-item.ts';
import {
  commentStream,
  historyBodies,
  historyOf,
  listThread,
  noteStreams,
  type ThreadRow,
  threadBody,
} from './history.ts';
import type { MembershipDecisions } from './membership-decisions.ts';

/** An item that a moderator asks for, and the page of its history. */
export interface AskedItem {
  id: string;
  me: PrincipalOf<'moderator'>;
  config: { undoWindowSeconds: number };
  /** The parameters of the request. */
  asOf: string | undefined;
  before: string | undefined;
}

/** An item with its history. */
export type ItemRead = ReturnType<typeof readNote | typeof readRecord | typeof readMembership>;

/** A note with its history. */
export async function readNote(reads: Reads, asked: AskedItem) {
  const found = await findNote(reads, asked, []);
  if (isRefusal(found)) return found;
  const { thread, ...note } = found;
  return note;
}

/** A note with its thread and its history. */
export const readNoteInThread = (reads: Reads, asked: AskedItem) =>
  findNote(reads, asked, [listThread(asked.id)]);

async function findNote(
  reads: Reads,
  { id, me, config, asOf, before }: AskedItem,
  threads: readonly Sql<ThreadRow>[],
) {
  const [owner] = await reads.query(noteOwners([id]));
  if (!owner) return refuse('not_found');
  const streams = noteStreams(owner, asOf);
  const page = historyOf(streams, before);
  if (isRefusal(page)) return page;
  const [rows, events, moderators, thread = []] = await reads.snapshot([
    itemsById([id]),
    page,
    moderatorNames(),
    ...threads,
  ]);
  const [item] = await itemBodies({ reads, config }, me, rows);
  if (!item) return refuse('not_found');
  return { item, thread: thread.map(threadBody), ...historyBodies(streams, events, moderators) };
}

/** A record with its history. */
export async function readRecord(
  reads: Reads,
  kind: PublicationKind,
  { id, me, config, asOf, before }: AskedItem,
) {
  const records = kind.records([id]);
  const [author] = await reads.query(recordAuthors(records));
  if (!author) return refuse('not_found');
  const streams = {
    owner: author.member_id,
    streams: recordStreams(kind, id),
    note: null,
    asOf,
  };
  const page = historyOf(streams, before);
  if (isRefusal(page)) return page;
  const [[row], events, moderators] = await reads.snapshot([
    withReports(kind.type, records),
    page,
    moderatorNames(),
  ]);
  if (!row) return refuse('not_found');
  const item = recordItemBody(row, { me, undoSeconds: config.undoWindowSeconds });
  return { item, ...historyBodies(streams, events, moderators) };
}

/** A membership with its history; only leads know which ones are disabled, and why. */
export async function readMembership(
  reads: Reads,
  membershipReview: MembershipDecisions,
  { id, me, config, asOf, before }: AskedItem,
) {
  if (!LEADS.includes(me.role)) return refuse('role_required', { roles: LEADS });
  const streams = { owner: id, streams: membershipStreams(membershipReview, id), note: null, asOf };
  const page = historyOf(streams, before);
  if (isRefusal(page)) return page;
  const [[row], events, moderators] = await reads.snapshot([
    membershipReview.items([id]),
    page,
    moderatorNames(),
  ]);
  if (!row) return refuse('not_found');
  const undoSeconds = config.undoWindowSeconds;
  const item = membershipReview.itemBody(row, { me, undoSeconds });
  return { item, ...historyBodies(streams, events, moderators) };
}

/** The streams of a record: its own, its reports, comments and claims taken over. */
export function recordStreams(
  kind: { type: RecordType; stream: (id: string) => string },
  id: string,
): string[] {
  const ref = { type: kind.type, id };
  return [kind.stream(id), reportsStream(ref), commentStream(ref), takeOverStream(ref)];
}

/** The streams of a membership: decisions and appeals, comments and claims taken over. */
export function membershipStreams(membershipReview: MembershipDecisions, id: string): string[] {
  const ref = { type: 'member' as const, id };
  return [membershipReview.stream(id), commentStream(ref), takeOverStream(ref)];
}
