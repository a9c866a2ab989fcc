import { v7 as uuidv7 } from 'uuid';
import { conflict } from '../../../domain/conflict.ts';
import type { LeftReason } from '../../../domain/guestbook/rewind.ts';
import { rewindNote } from '../../../domain/guestbook/rewind.ts';
import { LEADS } from '../../../domain/moderation/roles.ts';
import { subjectKey } from '../../../domain/moderation/subject.ts';
import { type Command, defineCommand } from '../../../platform/eventstore/handle.ts';
import { contentHash } from '../../../platform/json.ts';
import { type Refusal, refuse } from '../../../platform/refusal.ts';
import { type AuditRow, actsOf } from '../../../projections/moderation/audit.ts';
import {
  type RemovalOutcome,
  removalOutcomes,
} from '../../../projections/publications/record-decisions.ts';
import type { RecordRow } from '../../../projections/publications/records.ts';
import type { PublicationKind } from '../../publications/publication-kind.ts';
import { MAX_DECISIONS } from '../decisions/contract.ts';
import { membersConcerned, membersWithReports } from '../decisions/decide-rows.ts';
import {
  type DecidedNote,
  type DeskOptions,
  isGone,
  notesLoad,
  type OpenNote,
  openDesk,
} from '../decisions/desk.ts';
import type { ActiveModerator } from '../staff/by-moderator.ts';
import type { RewindPreview, RewindReply } from './contract.ts';
import {
  decisionsOnNote,
  type ModeratorDecision,
  toDecision,
  undoneOnNote,
} from './moderator-decisions.ts';

/** The most acts of a moderator, other acts than decisions too, that one request reads. */
export const MAX_ACTS = 1000;
/** How many acts a run reads again under its locks, to notice a decision that the preview does not have. */
const NEWEST_ACTS = 50;
const MAX_DAYS = 31;
const DAY_MS = 86_400_000;

/** Where a page of a rewind begins: at the decisions before a position of the log. */
export interface RewindPlace {
  before: number;
  /** The batch of the pages before; null on the first page, and in a preview. */
  batchId: string | null;
}

export const FIRST_PLACE: RewindPlace = { before: Number.MAX_SAFE_INTEGER, batchId: null };

export interface RequestedRewind {
  moderatorId: string;
  since: Date;
  dryRun: boolean;
  fingerprint: string | undefined;
  place: RewindPlace;
}

/** Decisions of a moderator, newest first, and the position where the next page begins. */
export interface DecisionsPage {
  decisions: readonly ModeratorDecision[];
  next: number | null;
}

/** The page that these acts of a moderator make; `acts` are at most `MAX_ACTS`, newest first. */
export function toDecisionsPage(acts: readonly AuditRow[], since: Date): DecisionsPage {
  const recent = acts.filter(({ recorded_at }) => recorded_at >= since);
  const all = recent.flatMap((act) => toDecision(act) ?? []);
  const decisions = all.slice(0, MAX_DECISIONS);
  const more = recent.length === MAX_ACTS ? recent.at(-1) : undefined;
  const last = all.length > decisions.length ? decisions.at(-1) : more;
  return { decisions, next: last?.position ?? null };
}

/** A decision, and why it is left; undefined if it is undone. */
interface Listed {
  decision: ModeratorDecision;
  reason: LeftReason | undefined;
}

export interface RewindDeps {
  publicationKinds: readonly PublicationKind[];
  desk: DeskOptions;
  writePlace: (place: RewindPlace) => string;
}

type RewindRefusal = 'role_required' | 'invalid_request' | 'state_conflict';

/**
 * Undoes the decisions of a page in one transaction, or only says what that would do. A note is
 * rewound on the page of its newest decision; later pages leave it out.
 */
export function rewindCommand(
  asked: RequestedRewind,
  page: DecisionsPage,
  { publicationKinds, desk: options, writePlace }: RewindDeps,
): Command<{ status: 200; body: RewindPreview | RewindReply }, RewindRefusal, ActiveModerator> {
  const { moderatorId, since, place } = asked;
  const batchId = place.batchId ?? uuidv7();
  const subjects = Map.groupBy(page.decisions, ({ subject }) => subjectKey(subject as never));
  const idsOf = (type: string) => [
    ...new Set(page.decisions.flatMap(({ subject }) => (subject.type === type ? subject.id : []))),
  ];
  const removals = page.decisions.filter(
    ({ subject, action }) => subject.type !== 'note' && action === 'remove',
  );
  return defineCommand({
    find: [membersConcerned(idsOf('note')), membersWithReports(idsOf('note'))],
    load: {
      acts:
        place === FIRST_PLACE && asked.fingerprint !== undefined
          ? actsOf(moderatorId, place.before, NEWEST_ACTS)
          : null,
      notes: notesLoad(idsOf('note'), [], { decisions: ['kept'] }),
      removals: removalOutcomes(removals.map(({ eventId }) => eventId)),
      records: publicationKinds.map(({ type, records }) =>
        idsOf(type).length > 0 ? records(idsOf(type)) : null,
      ),
    },
    decide({ acts, notes, removals: outcomes, records }, now, me: ActiveModerator) {
      if (!LEADS.includes(me.role)) return refuse('role_required', { roles: LEADS });
      const unbounded = sinceRefusal(since, now);
      if (unbounded) return unbounded;
      const desk = openDesk(me, notes, now, options);
      const listed: Listed[] = [];
      const rewound: DecidedNote[] = [];
      let next = page.next;
      for (const [first, ...others] of subjects.values()) {
        if (!first) continue;
        const opened = first.subject.type === 'note' ? desk.open(first.subject.id) : undefined;
        const decisions = opened
          ? decisionsOnNote(opened.events, moderatorId, since)
          : [first, ...others];
        // The page before has this note, because of a newer decision.
        if (opened && decisions.some(({ position }) => position >= place.before)) continue;
        if (listed.length > 0 && listed.length + decisions.length > MAX_DECISIONS) {
          next = first.position + 1;
          break;
        }
        const reasons = opened
          ? rewindOpened(opened, decisions, batchId, desk, rewound, options)
          : recordReasons(decisions, outcomes, records.flat());
        for (const decision of decisions)
          listed.push({ decision, reason: reasons.get(decision.eventId) });
      }
      const listing = toOutcomes(listed);
      const fingerprint = contentHash({
        moderator_id: moderatorId,
        before: place.before,
        next,
        ...listing,
      });
      // Whether the moderator has decided since this page was read.
      const newest = toDecisionsPage(acts, since).decisions[0]?.position ?? 0;
      const changed = newest > (page.decisions[0]?.position ?? 0);
      if (asked.fingerprint !== undefined && (asked.fingerprint !== fingerprint || changed))
        return conflict('version_mismatch');
      const nextPage = (batchId: string | null) => ({
        next_cursor: next === null ? null : writePlace({ before: next, batchId }),
        has_more: next !== null,
      });
      const { undo: undone, left } = listing;
      const body: RewindPreview | RewindReply = asked.dryRun
        ? { status: 'previewed', ...listing, fingerprint, ...nextPage(null) }
        : { status: 'undone', batch_id: batchId, undone, left, ...nextPage(batchId) };
      const writes = asked.dryRun || rewound.length === 0 ? { appends: [] } : desk.writes(rewound);
      return { ...writes, reply: () => ({ status: 200 as const, body }) };
    },
  });
}

function toOutcomes(listed: readonly Listed[]): Pick<RewindPreview, 'undo' | 'left'> {
  const outcomes: Pick<RewindPreview, 'undo' | 'left'> = { undo: [], left: [] };
  const newestFirst = listed.toSorted(
    (one, other) => other.decision.position - one.decision.position,
  );
  for (const { decision, reason } of newestFirst) {
    const { eventId: event_id, subject, action } = decision;
    if (reason) outcomes.left.push({ event_id, subject, action, reason });
    else outcomes.undo.push({ event_id, subject, action });
  }
  return outcomes;
}

function sinceRefusal(since: Date, now: Date): Refusal<'invalid_request'> | null {
  const ago = now.getTime() - since.getTime();
  if (ago >= 0 && ago <= MAX_DAYS * DAY_MS) return null;
  const message = `must be a time of the last ${MAX_DAYS} days`;
  return refuse('invalid_request', { issues: [{ path: 'since', message }] });
}

type Reasons = Map<string, LeftReason>;

/** Rewinds one note, and returns the reasons of the decisions that are left. */
function rewindOpened(
  opened: OpenNote,
  decisions: readonly ModeratorDecision[],
  batchId: string,
  desk: ReturnType<typeof openDesk>,
  rewound: DecidedNote[],
  { undoSeconds }: DeskOptions,
): Reasons {
  const { row, before, events, facts } = opened;
  if (before.status === 'none') throw new Error('a decision on no note');
  const { me, parent, now } = facts;
  const { events: made, left } = rewindNote(before, {
    decisions,
    undone: undoneOnNote(events),
    erased: isGone(row),
    authorGone: row.author_gone || row.ended,
    moderatorId: me.moderatorId,
    role: me.role,
    parent,
    undoSeconds,
    now,
    batchId,
  });
  if (made.length > 0) rewound.push(desk.accept(opened, made));
  return new Map(left.map(({ eventId, reason }) => [eventId, reason]));
}

/** Nothing of a record is undone: a removal would make it public, and no other decision can be. */
function recordReasons(
  decisions: readonly ModeratorDecision[],
  removals: readonly RemovalOutcome[],
  records: readonly RecordRow[],
): Reasons {
  return new Map(
    decisions.map((decision) => [decision.eventId, recordReason(decision, removals, records)]),
  );
}

function recordReason(
  { eventId, subject, action }: ModeratorDecision,
  removals: readonly RemovalOutcome[],
  records: readonly RecordRow[],
): LeftReason {
  if (subject.type === 'member') return 'not_included';
  if (action !== 'remove') return 'not_undoable';
  const removal = removals.find(({ event_id }) => event_id === eventId);
  const record = records.find(({ subject_id }) => subject_id === subject.id);
  if (removal?.undone_at) return 'undone';
  if (record?.title === null && record.text === null) return 'erased';
  if (!removal || removal.superseded || !record?.removed) return 'superseded';
  return record.state === 'removed' ? 'second_person_required' : 'author_gone';
}
