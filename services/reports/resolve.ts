import { recordReports, reportsStream } from '../../domain/reports/reports.ts';
import { type Append, streamVersion } from '../../platform/eventstore/append.ts';
import { replay } from '../../platform/eventstore/decider.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { type Command, defineCommand } from '../../platform/eventstore/event-store.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import { isRefusal } from '../../platform/refusal.ts';
import {
  type RecordReportRow,
  untoldReporters,
  untoldReports,
} from '../../projections/publications/record-reports.ts';
import { loadRecordEvents } from '../../projections/publications/records.ts';
import { lastRemoval, type PublicationKind } from '../publications/publication-kind.ts';

/** Finds members whose feeds may announce a decision, and reporters not yet notified of one. */
export const membersToTell = (subject: PublicationKind, id: string) => [
  subject.members(id),
  untoldReporters(subject.type, id),
];

function loadOf(subject: PublicationKind, id: string) {
  const records = subject.records([id]);
  const streams = [subject.stream(id), reportsStream({ type: subject.type, id })];
  return {
    records,
    events: loadRecordEvents(records, streams),
    reports: untoldReports(subject.type, id),
    concerned: subject.concerned(id),
  };
}

function resolution(
  of: PublicationKind,
  id: string,
  author: string,
  events: readonly RecordedEvent[],
  outcome: 'kept' | 'removed' | 'withdrawn',
  reports: readonly RecordReportRow[],
): Append[] {
  const subject = { type: of.type, id };
  const stream = reportsStream(subject);
  const earlier = events.filter(({ stream_id }) => stream_id === stream);
  const resolved = recordReports.decide(replay(recordReports, earlier), {
    type: 'ResolveReports',
    subject,
    outcome,
    reports,
  });
  if (isRefusal(resolved) || resolved.length === 0) return [];
  const actor = { type: 'service' as const };
  const owner = memberOwner(author);
  return [{ owner, stream, version: streamVersion(earlier), actor, events: resolved }];
}

const isRestored = (facts: readonly RecordedEvent[], removalId: string): boolean =>
  facts.some(
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
  return defineCommand({
    find: membersToTell(subject, id),
    load: loadOf(subject, id),
    decide({
      rows: {
        records: [row],
        events,
        reports,
        concerned,
      },
      now,
    }) {
      const stream = subject.stream(id);
      const facts = events.filter(({ stream_id }) => stream_id === stream);
      const removal = lastRemoval(facts.slice(0, version), undoSeconds);
      if (!row || removal?.version !== version) return { unchanged: false };
      const answered = reports.filter(
        ({ settled_by_event }) => settled_by_event === removal.eventId,
      );
      const members = concerned.map(({ member_id }) => member_id);
      const command = {
        type: 'TellRemoval' as const,
        of: removal.eventId,
        removal: lastRemoval(facts, undoSeconds),
      };
      const told = subject.decide(facts, command, members);
      const made = isRefusal(told) ? [] : told;
      if (made.length === 0 && answered.length === 0) return { unchanged: false };
      if (now < removal.undoUntil)
        throw new Error('cannot notify before the undo window has passed');
      const author = row.author_id;
      const outcome = isRestored(facts, removal.eventId) ? 'kept' : 'removed';
      const resolved = resolution(subject, id, author, events, outcome, answered);
      const telling: Append = {
        owner: memberOwner(author),
        stream,
        version: streamVersion(facts),
        actor: { type: 'moderator' },
        events: made,
      };
      return { answer: true, appends: made.length === 0 ? resolved : [telling, ...resolved] };
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
    decide({
      rows: {
        records: [row],
        events,
        reports,
      },
    }) {
      if (!row) return { unchanged: false };
      const gone = row.state === 'withdrawn';
      const withdrawn = reports.filter(
        ({ state }) => state === 'withdrawn' || (gone && state === 'open'),
      );
      const appends = resolution(subject, id, row.author_id, events, 'withdrawn', withdrawn);
      return appends.length === 0 ? { unchanged: false } : { answer: true, appends };
    },
  });
}
