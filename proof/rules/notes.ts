import type { Entry, History, Sighting } from '../history.ts';
import type { EventFact, LogFacts } from '../log-facts.ts';

/** Database and clients share one machine's clock, but read it in two ways. */
const SLACK_MS = 50;

/**
 * How long the replica may still show a note: the bound of one second, the second until the next
 * measurement, the time of a measurement and a read, and the time for which a process is stopped.
 */
const REPLICA_LAG_MS = 7000;

interface Span {
  from: number;
  to: number;
}

/** When a note may be visible, at most, by its stream and the acknowledgements of clients. */
function publicSpans(stream: readonly EventFact[], hiddenBy: (event: EventFact) => number): Span[] {
  const spans: Span[] = [];
  let open: Span | undefined;
  stream.forEach((event, index) => {
    const { type, data, at } = event;
    const shows =
      ['NoteApproved', 'NoteRestored', 'AppealGranted'].includes(type) ||
      (type === 'DecisionUndone' && data.decision === 'removed');
    const hides =
      ['NoteRejected', 'NoteRemoved', 'NoteWithdrawn', 'NoteErased'].includes(type) ||
      (type === 'DecisionUndone' && (data.decision === 'approved' || data.decision === 'granted'));
    if (shows && !open) {
      open = { from: at, to: Infinity };
      spans.push(open);
    }
    if (hides && open) {
      // The stream's next event was decided after this event was visible, so the note was hidden.
      const next = stream.slice(index + 1).find((other) => other.at > at);
      open.to = Math.min(hiddenBy(event), next?.at ?? Infinity);
      open = undefined;
    }
  });
  return spans;
}

/** Every note seen was approved by then, and no earlier acknowledged event had hidden it. */
export function decidedBeforePublic(
  sightings: readonly Sighting[],
  entries: readonly Entry[],
  { events, receipts }: LogFacts,
): string[] {
  const answeredAt = new Map<string, number>();
  const acknowledged = new Map(
    entries.flatMap(({ outcome, key, answered }) =>
      outcome === 'done' && key ? [[key, answered] as const] : [],
    ),
  );
  for (const { key, events: ids } of receipts)
    for (const id of ids) answeredAt.set(id, acknowledged.get(key) ?? Infinity);
  const withdrawn = new Map(
    entries.flatMap(({ operation, outcome, subject, answered }) =>
      operation === 'guestbook.withdraw' && outcome === 'done'
        ? [[subject, answered] as const]
        : [],
    ),
  );
  const hiddenBy = ({ id, type, data }: EventFact): number =>
    (type === 'NoteWithdrawn' ? withdrawn.get(String(data.note_id)) : undefined) ??
    answeredAt.get(id) ??
    Infinity;
  const streams = noteStreams(events);
  const spans = new Map(
    [...streams].map(([note, stream]) => [note, publicSpans(stream, hiddenBy)]),
  );
  const wrong = new Set<string>();
  for (const { note, invoked, answered, mayLag } of sightings) {
    const shown = spans.get(note) ?? [];
    const slack = mayLag ? REPLICA_LAG_MS : SLACK_MS;
    const fits = shown.some(({ from, to }) => from <= answered + SLACK_MS && to >= invoked - slack);
    if (fits) continue;
    const may = shown.map(({ from, to }) => `${Math.round(from)} to ${Math.round(to)}`);
    wrong.add(
      may.length === 0
        ? `note ${note}: public, not approved`
        : `note ${note}: public at the wrong time, seen by a request of ${Math.round(invoked)} to ${Math.round(answered)}, approved from ${may.join(' and from ')}`,
    );
  }
  return [...wrong];
}

/** No author learns of a rejection while its moderator can undo it; removals show immediately. */
export function authorsNotifiedInTime(
  told: History['told'],
  { events }: LogFacts,
  undoMs: number,
): string[] {
  const streams = noteStreams(events);
  return told.flatMap(({ note, answered }) => {
    const decided = streams
      .get(note)
      ?.filter(({ type, at }) => ['NoteRejected', 'NoteRemoved'].includes(type) && at <= answered);
    const early = decided?.every(({ at }) => at + undoMs > answered + SLACK_MS) ?? true;
    const removed = decided?.some(({ type }) => type === 'NoteRemoved');
    return early && !removed ? [`note ${note}: told before the decision stood`] : [];
  });
}

const noteStreams = (events: readonly EventFact[]) =>
  Map.groupBy(
    events.filter(({ stream }) => stream.startsWith('note-')),
    ({ stream }) => stream.slice('note-'.length),
  );
