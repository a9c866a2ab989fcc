import type { ReportReason } from '../../../domain/guestbook/report-reasons.ts';
import { tellRemoval } from '../../../domain/moderation/jobs.ts';
import { refuseUnlessActive } from '../../../domain/moderation/policy.ts';
import { ROLES_BY_ACTION } from '../../../domain/moderation/roles.ts';
import { type RemovalCommand, recordActionRefusal } from '../../../domain/publications/removal.ts';
import { notifiedAt, undoRefusal } from '../../../domain/publications/undo.ts';
import { recordReports, reportsStream } from '../../../domain/reports/reports.ts';
import { streamVersion } from '../../../platform/eventstore/append.ts';
import { replay } from '../../../platform/eventstore/decider.ts';
import type { NewEvent, RecordedEvent } from '../../../platform/eventstore/event.ts';
import { type Command, defineCommand, type Job } from '../../../platform/eventstore/event-store.ts';
import { memberOwner } from '../../../platform/eventstore/owner.ts';
import type { PrincipalOf, Role } from '../../../platform/http/principal.ts';
import { jobOf } from '../../../platform/jobs/job-type.ts';
import {
  isRefusal,
  type Refusal,
  refuse,
  wrongState,
  wrongVersion,
} from '../../../platform/refusal.ts';
import { moderatorNames } from '../../../projections/moderation/actor-names.ts';
import { findPolicy } from '../../../projections/moderation/policies.ts';
import {
  heldRecords,
  type RecordReportRow,
  untoldReports,
} from '../../../projections/publications/record-reports.ts';
import { loadRecordEvents, type RecordRow } from '../../../projections/publications/records.ts';
import { lastRemoval, type PublicationKind } from '../../publications/publication-kind.ts';
import { dropLeases } from '../../publications/review-leases.ts';
import { membersToTell } from '../../reports/resolve.ts';
import { liveLeaseOn, takeOverAppend, takeOverStream } from '../claims/leases.ts';
import { type ClaimOverride, overrideClaim } from '../claims/override.ts';
import { shareLockModerator } from '../staff/lock-moderator.ts';
import type { Decided } from './contract.ts';
import type { DecideRefusal } from './decide.ts';
import { withWinner } from './decide-rows.ts';
import type { SubjectDecision } from './record-contract.ts';

/** A decision on a record, or the undo of the removal whose event is `of`. */
export type RequestedRecordDecision =
  | SubjectDecision
  | { action: 'undo'; of: string; expected_version: number };

/** A record and its reports as read under the locks, and the moderator who decides. */
interface Desk {
  subject: PublicationKind;
  id: string;
  row: RecordRow;
  me: { moderatorId: string; role: Role };
  facts: RecordedEvent[];
  reports: RecordedEvent[];
  /** By event: the version of the item with it. */
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
  me: PrincipalOf<'moderator'>,
  subject: PublicationKind,
  id: string,
  asked: RequestedRecordDecision,
  undoSeconds: number,
): Command<Decided, DecideRefusal> {
  const records = subject.records([id]);
  const streams = [subject.stream(id), reportsStream({ type: subject.type, id })];
  const ref = { type: subject.type, id };
  const overrides: ClaimOverride =
    asked.action === 'undo'
      ? 'claims'
      : { takeOver: asked.take_over === true, removes: asked.action === 'remove' };
  return defineCommand({
    find: membersToTell(subject, id),
    load: {
      takeOvers:
        overrides !== 'claims' && overrides.takeOver
          ? loadRecordEvents(records, [takeOverStream(ref)])
          : null,
      moderators: shareLockModerator(me),
      policies: asked.action === 'remove' ? findPolicy(asked.policy) : null,
      records,
      events: loadRecordEvents(records, streams),
      names: moderatorNames(),
      reports: untoldReports(subject.type, id),
      concerned: subject.concerned(id),
      held: heldRecords(subject.type, [id]),
      leases: liveLeaseOn({ type: subject.type, id }),
    },
    decide({ rows, now }) {
      const { events, reports, concerned } = rows;
      const [live] = rows.moderators;
      const [policy] = rows.policies;
      const [row] = rows.records;
      const [lease] = rows.leases;
      if (!live) return refuse('moderator_required');
      const unknown = asked.action === 'remove' ? refuseUnlessActive(policy) : null;
      if (unknown) return unknown;
      if (!row) return refuse('not_found');
      const own = lease?.moderator_id === me.moderatorId;
      const ofReports = events.filter(({ stream_id }) => stream_id === streams[1]);
      const versions = versionsAfter(events, row.version + streamVersion(ofReports));
      const reviewed = events.findLast(({ type }) => REVIEWED.test(type));
      const desk: Desk = {
        versions,
        reviewVersion: (reviewed && versions.get(reviewed.event_id)) ?? 0,
        subject,
        id,
        row,
        me: { moderatorId: me.moderatorId, role: live.role },
        facts: events.filter(({ stream_id }) => stream_id === streams[0]),
        reports: ofReports,
        open: reports.filter(({ state }) => state === 'open'),
        concerned: concerned.map(({ member_id }) => member_id),
        claimedAt: lease && own ? lease.claimed_at.toISOString() : null,
        undoSeconds,
        now,
      };
      const made = asked.action === 'keep' ? keep(desk, asked) : moderate(desk, asked);
      if (isRefusal(made)) return withWinner(inAll(made, desk), events, rows.names);
      const held = lease && !own ? lease : null;
      const claim = held && overrideClaim(held, overrides, live.role);
      if (isRefusal(claim)) return claim;
      const removed = asked.action === 'remove';
      const version = row.version + streamVersion(desk.reports) + made.events.length;
      return {
        answer: ([event]) => ({
          status: asked.action === 'undo' ? 'undone' : 'decided',
          event_id: event?.event_id ?? '',
          state: removed ? 'removed' : row.gone ? 'withdrawn' : 'published',
          version,
          undo_until: removed ? notifiedAt(now, undoSeconds).toISOString() : null,
        }),
        appends: [
          {
            owner: memberOwner(row.author_id),
            ...made,
            actor: { type: 'moderator', id: me.moderatorId },
          },
          ...(held && claim === 'taken_over'
            ? [takeOverAppend(memberOwner(row.author_id), held, me.moderatorId, rows.takeOvers)]
            : []),
        ],
        rows: [dropLeases(subject.type, [id])],
        jobs: removed ? [tellJob(desk, made.version + 1)] : [],
      };
    },
  });
}

/**
 * The events that a moderator has to have seen: decisions, and what changes the text. All others,
 * such as reports and what members do with a case, change the version only.
 */
const REVIEWED = /(?:Published|Removed|Restored|Withdrawn)$|^RecordReportsDismissed$/;

/** Events on a case that leave its version as it is. */
const UNVERSIONED: readonly string[] = ['CaseReviewed', 'CaseRemovalTold'];

/** By event: the version that moderators saw after it; `version` is the version now. */
function versionsAfter(
  events: readonly RecordedEvent[],
  version: number,
): ReadonlyMap<string, number> {
  const versions = new Map<string, number>();
  let after = version;
  for (const { event_id, type } of events.toReversed()) {
    versions.set(event_id, after);
    if (!UNVERSIONED.includes(type)) after -= 1;
  }
  return versions;
}

/**
 * Refuses a decision if another decision, or another text, came after the version that the moderator
 * read; or if there is no such version.
 */
function versionRefusal(desk: Desk, expected: number): Refusal<'state_conflict'> | null {
  const state = { status: desk.row.state, version: versionOf(desk) };
  return expected >= desk.reviewVersion && expected <= state.version ? null : wrongVersion(state);
}

/** The version that moderators see: the record's version plus that of its reports. */
const versionOf = ({ row, reports }: Desk): number => row.version + streamVersion(reports);

/** Puts the version that moderators see into a refusal; the decider knows only the record's own. */
function inAll(refusal: Refusal<DecideRefusal>, desk: Desk): Refusal<DecideRefusal> {
  if (refusal.details?.current_version === undefined) return refusal;
  const current = { current_state: desk.row.state, current_version: versionOf(desk) };
  return refuse(refusal.refused, { ...refusal.details, ...current });
}

function keep(desk: Desk, { action, expected_version }: RequestedRecordDecision): Made {
  const { subject, id, row, reports, me, claimedAt } = desk;
  const roles = ROLES_BY_ACTION[action as 'keep'];
  if (!roles.includes(me.role)) return refuse('role_required', { roles });
  const state = { status: row.state, version: versionOf(desk) };
  const stale = versionRefusal(desk, expected_version);
  if (stale) return stale;
  // Reports that came after the version that the moderator read stay open.
  const open = desk.open.filter(
    ({ report_id }) => versionOfReport(desk, report_id) <= expected_version,
  );
  const record = { status: row.state, reported: open.length > 0 };
  if (recordActionRefusal(record, 'keep', me.moderatorId)) return wrongState(state);
  const kept = { type: subject.type, id };
  const events = recordReports.decide(replay(recordReports, reports), {
    type: 'DismissReports',
    subject: kept,
    open: open.map((report) => ({ ...report, reason: report.reason as ReportReason })),
    claimedAt,
  });
  if (isRefusal(events)) return events;
  return { stream: reportsStream(kept), version: streamVersion(reports), events };
}

function versionOfReport({ reports, versions }: Desk, reportId: string): number {
  const event = reports.find(
    ({ type, data }) =>
      type === 'RecordReported' && (data as { report_id: string }).report_id === reportId,
  );
  return (event && versions.get(event.event_id)) ?? 0;
}

function moderate(desk: Desk, asked: RequestedRecordDecision): Made {
  const { subject, id, row, facts, concerned } = desk;
  const command = asked.action === 'undo' ? undoCommand(desk, asked) : decision(desk, asked);
  if (isRefusal(command)) return command;
  // Closing the author's account may withdraw the record before the record's own stream says so.
  if (row.state === 'withdrawn') return wrongState({ status: row.state, version: versionOf(desk) });
  const events = subject.decide(facts, command, concerned);
  if (isRefusal(events)) return events;
  if (events.length === 0) throw new Error(`${row.state} ${subject.type}: nothing decided`);
  return { stream: subject.stream(id), version: streamVersion(facts), events };
}

function decision(
  desk: Desk,
  asked: RequestedRecordDecision,
): RemovalCommand | Refusal<DecideRefusal> {
  const { row, me, facts, undoSeconds, claimedAt } = desk;
  const roles = ROLES_BY_ACTION[asked.action as 'remove' | 'restore'];
  if (!roles.includes(me.role)) return refuse('role_required', { roles });
  const stale = versionRefusal(desk, asked.expected_version);
  if (stale) return stale;
  const expectedVersion = row.version;
  if (asked.action === 'remove') {
    const message = asked.message ?? null;
    return { type: 'Remove', expectedVersion, policy: asked.policy, message, claimedAt };
  }
  const removal = lastRemoval(facts, undoSeconds);
  return { type: 'Restore', expectedVersion, by: me.moderatorId, removal };
}

/** Undoes a removal, as `undoRefusal` allows. */
function undoCommand(
  desk: Desk,
  { of, expected_version }: Extract<RequestedRecordDecision, { action: 'undo' }>,
): RemovalCommand | Refusal<DecideRefusal> {
  const { row, me, facts, undoSeconds, now } = desk;
  const removal = lastRemoval(facts, undoSeconds);
  const state = { status: row.state, version: versionOf(desk) };
  if (row.state !== 'removed' || removal?.eventId !== of) return wrongState(state);
  const { by: moderatorId, at } = removal;
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
