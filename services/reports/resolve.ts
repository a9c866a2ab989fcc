import { memberOwner } from '../../domain/owners.ts';
import { notifiedAt } from '../../domain/publications/undo.ts';
import { reportsStream, resolveReports } from '../../domain/reports/reports.ts';
import { type OwnAppend, streamVersion } from '../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { type Command, defineCommand, NOTHING_TO_DO } from '../../platform/eventstore/handle.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { lastRemoval } from '../../projections/publications/record-decisions.ts';
import {
  type RecordReportRow,
  untoldReporters,
  untoldReports,
} from '../../projections/publications/record-reports.ts';
import { lastRecordFact, recordFactsFrom } from '../../projections/publications/records.ts';
import { type PublicationKind, removable, toRemoval } from '../publications/publication-kind.ts';

/** Finds members whose feeds may announce a decision, and reporters not yet notified of one. */
export const membersToTell = (subject: PublicationKind, id: string) => [
  subject.members(id),
  untoldReporters(subject.type, id),
];

function loadOf(subject: PublicationKind, id: string) {
  const records = subject.records([id]);
  const stream = reportsStream({ type: subject.type, id });
  return {
    records,
    last: lastRecordFact(records, stream),
    reports: untoldReports(subject.type, id),
  };
}

function resolution(
  of: PublicationKind,
  id: string,
  author: string,
  last: readonly RecordedEvent[],
  outcome: 'kept' | 'removed' | 'withdrawn',
  reports: readonly RecordReportRow[],
): OwnAppend[] {
  const subject = { type: of.type, id };
  const resolved = resolveReports({ subject, outcome, reports });
  if (resolved.length === 0) return [];
  const owner = memberOwner(author);
  const stream = reportsStream(subject);
  return [{ owner, stream, version: streamVersion(last), events: resolved }];
}

const isRestored = (since: readonly RecordedEvent[], removalId: string): boolean =>
  since.some(
    ({ type, data }) => type.endsWith('Restored') && (data as { of: string }).of === removalId,
  );

/**
 * Notifies the members concerned and the reporters of the removal that produced `version`, if it
 * still applies. If another moderator restored the record, or its author published it again, it
 * notifies only the reporters. Returns whether it recorded a notification.
 */
export function notifyRemovalCommand(
  subject: PublicationKind,
  id: string,
  version: number,
  undoSeconds: number,
): Command<boolean> {
  const stream = subject.stream(id);
  return defineCommand({
    find: membersToTell(subject, id),
    load: {
      ...loadOf(subject, id),
      since: recordFactsFrom(subject.records([id]), stream, version),
      removals: lastRemoval(subject.type, id),
      concerned: subject.concerned(id),
    },
    decide({ records: [row], removals: [removal], last, since, reports, concerned }, now) {
      const [removed] = since;
      if (!row || removed?.stream_version !== version || !removed.type.endsWith('Removed'))
        return NOTHING_TO_DO;
      const of = removed.event_id;
      const answered = reports.filter(({ settled_by_event }) => settled_by_event === of);
      const members = concerned.map(({ member_id }) => member_id);
      const command = {
        type: 'TellRemoval' as const,
        of,
        removal: removal ? toRemoval(removal, undoSeconds) : null,
      };
      const told = subject.decide(removable(row, removal), command, members);
      const made = isRefusal(told) ? [] : told;
      if (made.length === 0 && answered.length === 0) return NOTHING_TO_DO;
      if (now < notifiedAt(removed.recorded_at, undoSeconds))
        throw new Error('cannot notify before the undo window has passed');
      const author = row.author_id;
      const outcome = isRestored(since, of) ? 'kept' : 'removed';
      const resolved = resolution(subject, id, author, last, outcome, answered);
      const telling: OwnAppend = {
        owner: memberOwner(author),
        stream,
        version: streamVersion(since),
        actor: { type: 'moderator' },
        events: made,
      };
      return {
        appends: made.length === 0 ? resolved : [telling, ...resolved],
        reply: () => true,
      };
    },
  });
}

/**
 * Notifies the reporters that the author withdrew the record, or that the record ended together
 * with the record it belongs to. Returns whether it recorded a notification.
 */
export function notifyWithdrawalCommand(subject: PublicationKind, id: string): Command<boolean> {
  return defineCommand({
    find: membersToTell(subject, id),
    load: loadOf(subject, id),
    decide({ records: [row], last, reports }) {
      if (!row) return NOTHING_TO_DO;
      const gone = row.state === 'withdrawn';
      const withdrawn = reports.filter(
        ({ state }) => state === 'withdrawn' || (gone && state === 'open'),
      );
      const appends = resolution(subject, id, row.author_id, last, 'withdrawn', withdrawn);
      return { appends, reply: () => appends.length > 0 };
    },
  });
}
