import { wrongState, wrongVersion } from '../../../domain/conflict.ts';
import type { ReportReason } from '../../../domain/guestbook/words.ts';
import { tellRemoval } from '../../../domain/moderation/jobs.ts';
import { refuseUnlessActive } from '../../../domain/moderation/policy.ts';
import { ROLES_BY_ACTION } from '../../../domain/moderation/roles.ts';
import { memberOwner } from '../../../domain/owners.ts';
import { type RemovalCommand, recordActionRefusal } from '../../../domain/publications/removal.ts';
import { notifiedAt, undoRefusal } from '../../../domain/publications/undo.ts';
import { dismissReports, reportsStream } from '../../../domain/reports/reports.ts';
import { streamVersion } from '../../../platform/eventstore/append.ts';
import type { NewEvent, RecordedEvent } from '../../../platform/eventstore/event.ts';
import { defineCommand } from '../../../platform/eventstore/handle.ts';
import { loadAfter } from '../../../platform/eventstore/load.ts';
import type { Job } from '../../../platform/eventstore/plan.ts';
import { LostRace } from '../../../platform/eventstore/transaction.ts';
import { jobOf } from '../../../platform/jobs/job-type.ts';
import { isRefusal, type Refusal, refuse } from '../../../platform/refusal.ts';
import { lastDecision } from '../../../projections/moderation/audit.ts';
import { moderatorNames } from '../../../projections/moderation/moderators.ts';
import { findPolicy } from '../../../projections/moderation/policies.ts';
import {
  lastRemoval,
  type RecordDecisionRow,
} from '../../../projections/publications/record-decisions.ts';
import {
  heldRecords,
  type RecordReportRow,
  untoldReports,
} from '../../../projections/publications/record-reports.ts';
import {
  changesSince,
  countUnseen,
  lastRecordFact,
  MAX_UNSEEN_CHANGES,
  type RecordRow,
  recordAuthors,
} from '../../../projections/publications/records.ts';
import { type PublicationKind, removable, toRemoval } from '../../publications/publication-kind.ts';
import { dropLeases } from '../../publications/review-leases.ts';
import { membersToTell } from '../../reports/resolve.ts';
import { liveLeasesOn, takeOverStream } from '../claims/leases.ts';
import { type ClaimOverride, claimedAt, passClaim } from '../claims/override.ts';
import type { ActiveModerator } from '../staff/by-moderator.ts';
import type { DecideRefusal } from './contract.ts';
import { withWinner } from './decide-rows.ts';
import type { RecordDecision } from './record-contract.ts';
import type { DecideCommand } from './request.ts';

/** A decision on a record, or the undo of the removal whose event is `of`. */
export type RequestedRecordDecision =
  | RecordDecision
  | { action: 'undo'; of: string; expected_version: number };

/** A record and its reports as read under the locks, and the moderator who decides. */
interface Desk {
  subject: PublicationKind;
  id: string;
  row: RecordRow;
  me: ActiveModerator;
  /** The version that moderators see: the record's version plus that of its reports. */
  version: number;
  /** The versions of the record's stream and of the stream of its reports. */
  streamVersions: { record: number; reports: number };
  /** The latest removal, if it is in force. */
  removal: RecordDecisionRow | undefined;
  /** What changed since the version that the moderator read, oldest first. */
  changes: readonly RecordedEvent[];
  /** By event of `changes`: the version of the item with it. */
  versions: ReadonlyMap<string, number>;
  /** The version after the last event that a moderator has to have seen before deciding. */
  reviewVersion: number;
  open: RecordReportRow[];
  concerned: string[];
  /** When the moderator claimed the record; null without a live claim. */
  claimedAt: string | null;
  undoSeconds: number;
  now: Date;
}

type Made = { stream: string; version: number; events: NewEvent[] } | Refusal<DecideRefusal>;

/** The command for one decision on a record, in one transaction with the reports that it settles. */
export function recordCommand(
  subject: PublicationKind,
  id: string,
  asked: RequestedRecordDecision,
  undoSeconds: number,
): DecideCommand {
  const records = subject.records([id]);
  const ref = { type: subject.type, id };
  const streams = { record: subject.stream(id), reports: reportsStream(ref) };
  const overrides: ClaimOverride =
    asked.action === 'undo'
      ? 'claims'
      : { takeOver: asked.take_over === true, removes: asked.action === 'remove' };
  return defineCommand({
    find: membersToTell(subject, id),
    load: {
      takeOvers:
        overrides !== 'claims' && overrides.takeOver
          ? lastRecordFact(records, takeOverStream(ref))
          : null,
      policies: asked.action === 'remove' ? findPolicy(asked.policy) : null,
      records,
      last: {
        ofRecord: lastRecordFact(records, streams.record),
        ofReports: lastRecordFact(records, streams.reports),
      },
      changes: changesSince(subject, id, records, streams, asked.expected_version),
      removals: lastRemoval(subject.type, id),
      decided: loadAfter(recordAuthors(records), ([author]) =>
        author ? lastDecision(author.member_id, id, streams) : null,
      ),
      names: moderatorNames(),
      reports: untoldReports(subject.type, id),
      concerned: subject.concerned(id),
      held: heldRecords(subject.type, [id]),
      leases: liveLeasesOn(subject.type, [id]),
    },
    decide(rows, now, me: ActiveModerator) {
      const { last, reports, concerned } = rows;
      const [policy] = rows.policies;
      const [row] = rows.records;
      const [lease] = rows.leases;
      const unknown = asked.action === 'remove' ? refuseUnlessActive(policy) : null;
      if (unknown) return unknown;
      if (!row) return refuse('not_found');
      const [removal] = rows.removals;
      const streamVersions = {
        record: streamVersion(last.ofRecord),
        reports: streamVersion(last.ofReports),
      };
      const version = row.version + streamVersions.reports;
      const unseen = countUnseen(version, asked.expected_version);
      const changes = [...rows.changes.ofRecord, ...rows.changes.ofReports]
        .toSorted((left, right) => left.position - right.position)
        .slice(-unseen || Number.MAX_SAFE_INTEGER);
      if (changes.length < unseen) throw new LostRace(`${ref.type} ${id} has changed since`);
      const versions = versionsAfter(changes, version);
      const reviewed = changes.findLast(({ type }) => isSeen(subject.events, type));
      const desk: Desk = {
        version,
        streamVersions,
        removal,
        changes,
        versions,
        reviewVersion: (reviewed && versions.get(reviewed.event_id)) ?? 0,
        subject,
        id,
        row,
        me,
        open: reports.filter(({ state }) => state === 'open'),
        concerned: concerned.map(({ member_id }) => member_id),
        claimedAt: claimedAt(lease, me),
        undoSeconds,
        now,
      };
      const made = asked.action === 'keep' ? keep(desk, asked) : moderate(desk, asked);
      if (isRefusal(made)) return withWinner(inAll(made, desk), rows.decided, rows.names);
      const owner = memberOwner(row.author_id);
      const takenOver = passClaim({ lease, owner, takeOvers: rows.takeOvers }, overrides, me);
      if (isRefusal(takenOver)) return takenOver;
      const removed = asked.action === 'remove';
      return {
        appends: [{ owner, ...made }, ...takenOver],
        rows: [dropLeases(subject.type, [id])],
        jobs: removed ? [tellJob(desk, made.version + 1)] : [],
        reply: ([event]) => ({
          status: 201 as const,
          body: {
            status: asked.action === 'undo' ? ('undone' as const) : ('decided' as const),
            event_id: event?.event_id ?? '',
            state: removed ? 'removed' : row.gone ? 'withdrawn' : 'published',
            version: version + made.events.length,
            undo_until: removed ? notifiedAt(now, undoSeconds).toISOString() : null,
          },
        }),
      };
    },
  });
}

/**
 * Whether a moderator has to have seen an event before deciding: decisions, and what the kind names. All
 * others, such as reports and what members do with a case, change the version only.
 */
const isSeen = ({ removed, restored, seen }: PublicationKind['events'], type: string): boolean =>
  [removed, restored, 'RecordReportsDismissed', ...seen].includes(type);

/** By event: the version that moderators saw after it; `version` is the version now. */
function versionsAfter(
  changes: readonly RecordedEvent[],
  version: number,
): ReadonlyMap<string, number> {
  return new Map(
    changes.map(({ event_id }, index) => [event_id, version - (changes.length - 1 - index)]),
  );
}

/**
 * Refuses a decision if another decision, or another text, came after the version that the moderator
 * read, or more changes than a command looks through; or if there is no such version.
 */
function versionRefusal(desk: Desk, expected: number): Refusal<'state_conflict'> | null {
  const { version, reviewVersion } = desk;
  const seen = Math.max(reviewVersion, version - MAX_UNSEEN_CHANGES);
  if (expected >= seen && expected <= version) return null;
  return wrongVersion({ version });
}

/** Puts the version that moderators see into a refusal; the decider knows only the record's own. */
function inAll(refusal: Refusal<DecideRefusal>, desk: Desk): Refusal<DecideRefusal> {
  if (refusal.details?.current_version === undefined) return refusal;
  const current = { current_state: desk.row.state, current_version: desk.version };
  return refuse(refusal.refused, { ...refusal.details, ...current });
}

function keep(desk: Desk, { action, expected_version }: RequestedRecordDecision): Made {
  const { subject, id, row, me, claimedAt } = desk;
  const roles = ROLES_BY_ACTION[action as 'keep'];
  if (!roles.includes(me.role)) return refuse('role_required', { roles });
  const state = { status: row.state, version: desk.version };
  const stale = versionRefusal(desk, expected_version);
  if (stale) return stale;
  // Reports that came after the version that the moderator read stay open.
  const open = desk.open.filter(
    ({ report_id }) => versionOfReport(desk, report_id) <= expected_version,
  );
  const record = { status: row.state, reported: open.length > 0 };
  if (recordActionRefusal(record, 'keep', me.moderatorId)) return wrongState(state);
  const kept = { type: subject.type, id };
  const events = dismissReports({
    subject: kept,
    open: open.map((report) => ({ ...report, reason: report.reason as ReportReason })),
    claimedAt,
  });
  return { stream: reportsStream(kept), version: desk.streamVersions.reports, events };
}

/** The version of the item with a report; 0 if the moderator has read it. */
function versionOfReport({ changes, versions }: Desk, reportId: string): number {
  const event = changes.find(
    ({ type, data }) =>
      type === 'RecordReported' && (data as { report_id: string }).report_id === reportId,
  );
  return (event && versions.get(event.event_id)) ?? 0;
}

function moderate(desk: Desk, asked: RequestedRecordDecision): Made {
  const { subject, id, row, removal, concerned, streamVersions } = desk;
  const command = asked.action === 'undo' ? undoCommand(desk, asked) : decision(desk, asked);
  if (isRefusal(command)) return command;
  // Closing the author's account may withdraw the record before the record's own stream says so.
  if (row.state === 'withdrawn') return wrongState({ status: row.state, version: desk.version });
  const events = subject.decide(removable(row, removal), command, concerned);
  if (isRefusal(events)) return events;
  if (events.length === 0) throw new Error(`${row.state} ${subject.type}: nothing decided`);
  return { stream: subject.stream(id), version: streamVersions.record, events };
}

function decision(
  desk: Desk,
  asked: RequestedRecordDecision,
): RemovalCommand | Refusal<DecideRefusal> {
  const { row, me, removal, undoSeconds, claimedAt } = desk;
  const roles = ROLES_BY_ACTION[asked.action as 'remove' | 'restore'];
  if (!roles.includes(me.role)) return refuse('role_required', { roles });
  const stale = versionRefusal(desk, asked.expected_version);
  if (stale) return stale;
  const expectedVersion = row.version;
  if (asked.action === 'remove') {
    const message = asked.message ?? null;
    return { type: 'Remove', expectedVersion, policy: asked.policy, message, claimedAt };
  }
  const of = removal ? toRemoval(removal, undoSeconds) : null;
  return { type: 'Restore', expectedVersion, by: me.moderatorId, removal: of };
}

/** Undoes a removal, as `undoRefusal` allows. */
function undoCommand(
  desk: Desk,
  { of, expected_version }: Extract<RequestedRecordDecision, { action: 'undo' }>,
): RemovalCommand | Refusal<DecideRefusal> {
  const { row, me, undoSeconds, now } = desk;
  const removal = desk.removal && toRemoval(desk.removal, undoSeconds);
  const state = { status: row.state, version: desk.version };
  if (row.state !== 'removed' || desk.removal?.event_id !== of || !removal)
    return wrongState(state);
  const { decided_at: at } = desk.removal;
  const { by: moderatorId } = removal;
  const decision = { kind: 'removed', moderatorId, at, appealed: false, reviewed: null };
  const refused =
    undoRefusal({ decision, me, undoSeconds, now }) ?? versionRefusal(desk, expected_version);
  if (refused) return refused;
  return { type: 'UndoRemoval', of, removal, anyTime: removal.by !== me.moderatorId, now };
}

function tellJob({ subject, id, undoSeconds }: Desk, version: number): Job {
  return jobOf(
    tellRemoval,
    { subject: { type: subject.type, id }, version },
    // One second more, so that the job never runs before the undo window is over.
    undoSeconds > 0 ? { startAfter: undoSeconds + 1 } : {},
  );
}
