import { wrongState } from '../../../domain/conflict.ts';
import { screeningJob } from '../../../domain/guestbook/jobs.ts';
import { type NoteCommand, note } from '../../../domain/guestbook/note.ts';
import type { NoteEvents, NoteState, ParentFacts } from '../../../domain/guestbook/state.ts';
import { isUndoable } from '../../../domain/guestbook/undo.ts';
import { noteStream, screeningStream } from '../../../domain/guestbook/words.ts';
import type { Role } from '../../../domain/permissions.ts';
import { notifiedAt } from '../../../domain/publications/undo.ts';
import { type OwnAppend, streamVersion } from '../../../platform/eventstore/append.ts';
import { replay } from '../../../platform/eventstore/decider.ts';
import type { NewEvent, RecordedEvent } from '../../../platform/eventstore/event.ts';
import { SERVICE_ACTOR } from '../../../platform/eventstore/event.ts';
import { loadAfter, type Rows } from '../../../platform/eventstore/load.ts';
import type { Job } from '../../../platform/eventstore/plan.ts';
import { isRefusal, type Refusal, refuse } from '../../../platform/refusal.ts';
import {
  currentFacts,
  factsOfFound,
  notesToDecide,
  type SettledReportsOf,
} from '../../../projections/guestbook/note-facts.ts';
import { ownerOfNote } from '../../../projections/guestbook/notes.ts';
import { moderatorNames } from '../../../projections/moderation/moderators.ts';
import { notifyAuthorJobs } from '../../guestbook/notify-author.ts';
import { erasePersonal } from '../../guestbook/scheduled-commands.ts';
import { dropLeases } from '../../publications/review-leases.ts';
import { type Fingerprint, toFingerprint } from '../../screening/fingerprint.ts';
import { knownOfText, screening, toNoteFingerprinted } from '../../screening/screening.ts';
import { liveLeasesOn, type NamedLease, takeOverStream } from '../claims/leases.ts';
import { type ClaimOverride, claimedAt, passClaim } from '../claims/override.ts';
import type { ModerationDeps } from '../queue/deps.ts';
import type { ActiveModerator } from '../staff/by-moderator.ts';
import type { Decided, DecideRefusal } from './contract.ts';
import {
  holdParents,
  type LockedNote,
  lockNotes,
  readScreenings,
  readTakeOvers,
  withWinner,
} from './decide-rows.ts';

/** The facts from which a decision on a note builds its command. */
export interface Facts {
  me: ActiveModerator;
  claimedAt: string | null;
  parent: ParentFacts | null;
  /** Whether the author's account is closed. */
  authorGone: boolean;
  now: Date;
}

export interface RequestedDecision {
  noteId: string;
  /** The roles that may make the request; undefined if all may. */
  roles?: readonly Role[];
  /** Whether the request overrides the claim of another moderator. */
  overrides: ClaimOverride;
  /** The event of the decision that the request undoes. */
  undoes?: string;
  command: (facts: Facts) => NoteCommand;
}

/** A note on the desk, as read under the locks. */
export interface OpenNote {
  row: LockedNote;
  events: readonly RecordedEvent[];
  before: NoteState;
  lease: NamedLease | undefined;
  facts: Facts;
}

/** What was decided on one note. */
export interface DecidedNote {
  append: OwnAppend;
  takenOver: OwnAppend[];
  /** The state of the note before the decision. */
  before: NoteState;
}

/** The outcome of one decision of several. */
export type Result = Decided | Refusal<DecideRefusal>;

/** What the commands of all decisions have in common. */
export interface DeskOptions {
  undoSeconds: number;
  /** The fingerprint of a note's text, recorded with a decision that comes before the screening. */
  fingerprint: (message: string) => Fingerprint;
}

export const deskOptions = ({
  config,
  keys,
}: Pick<ModerationDeps, 'config' | 'keys'>): DeskOptions => ({
  undoSeconds: config.undoWindowSeconds,
  fingerprint: (message) => toFingerprint(keys, message),
});

/**
 * Locks and reads notes, with their streams, parents, claims and the moderators' names. `settled` are the
 * settled reports that an undo needs.
 */
export function notesLoad(
  ids: readonly string[],
  takeOvers: readonly string[] = [],
  settled: SettledReportsOf = {},
) {
  return loadAfter(notesToDecide(ids, settled), (found) => ({
    notes: lockNotes(ids),
    parents: holdParents(found),
    facts: factsOfFound(found, ids, settled),
    screenings: readScreenings(found),
    names: moderatorNames(),
    leases: liveLeasesOn('note', ids),
    takeOvers: readTakeOvers(found.filter(({ note_id }) => takeOvers.includes(note_id))),
  }));
}

/** Whether the events make a decided note pending again. */
const reopens = ({ events }: OwnAppend): boolean =>
  events.at(-1)?.type === 'DecisionUndone' &&
  (events as NewEvent<NoteEvents>[]).some(
    ({ type, data }) =>
      type === 'DecisionUndone' && (data.decision === 'approved' || data.decision === 'rejected'),
  );
const decides = ({ events }: OwnAppend) =>
  events.some(({ type }) => ['NoteApproved', 'NoteRejected', 'NoteRemoved'].includes(type));
const erases = ({ events }: OwnAppend) => events.some(({ type }) => type === 'NoteErased');
const noteIdOf = ({ stream }: OwnAppend): string => stream.slice('note-'.length);

/** The notes under review as read under the locks, with their parents and leases. */
export function openDesk(
  me: ActiveModerator,
  rows: Rows<ReturnType<typeof notesLoad>>,
  now: Date,
  { undoSeconds, fingerprint }: DeskOptions,
) {
  const notes = new Map(rows.notes.map((row) => [row.note_id, row]));
  const parents = new Map<string, ParentFacts>(rows.parents.map((row) => [row.note_id, row]));
  const leases = new Map(rows.leases.map((lease) => [lease.note_id, lease]));
  const events = [...currentFacts(rows.facts), ...rows.screenings.flat(), ...rows.takeOvers.flat()];
  const streams = Map.groupBy(events, (event) => event.stream_id);

  /** The note; undefined if it is not here, or was submitted after the owners were looked up. */
  function open(noteId: string): OpenNote | undefined {
    const row = notes.get(noteId);
    const events = streams.get(noteStream(noteId));
    if (!row || !events) return undefined;
    const lease = leases.get(noteId);
    const facts: Facts = {
      me,
      claimedAt: claimedAt(lease, me),
      parent: (row.parent_id && parents.get(row.parent_id)) || null,
      authorGone: row.author_gone,
      now,
    };
    return { row, events, before: note.replay(events), lease, facts };
  }

  /** Takes the events that were decided on a note. */
  function accept(
    { row, events, before }: OpenNote,
    made: readonly NewEvent[],
    takenOver: OwnAppend[] = [],
  ): DecidedNote {
    follow(row.note_id, made);
    const append: OwnAppend = {
      owner: ownerOfNote(row),
      stream: noteStream(row.note_id),
      version: streamVersion(events),
      events: made,
    };
    return { append, takenOver, before };
  }

  function review({
    noteId,
    overrides,
    command: make,
  }: RequestedDecision): DecidedNote | Refusal<DecideRefusal> {
    const opened = open(noteId);
    if (!opened) return refuse('not_found');
    const { row, events, before, lease, facts } = opened;
    const made = isGone(row)
      ? wrongState({ ...row, status: row.state })
      : note.decide(before, make(facts));
    if (isRefusal(made)) return withWinner(made as Refusal<DecideRefusal>, events, rows.names);
    const takeOvers = streams.get(takeOverStream({ type: 'note', id: noteId })) ?? [];
    const takenOver = passClaim({ lease, owner: ownerOfNote(row), takeOvers }, overrides, me);
    if (isRefusal(takenOver)) return takenOver;
    return accept(opened, made, takenOver);
  }

  /** Marks a parent as approved, so that replies decided after it can be approved as well. */
  function follow(noteId: string, made: readonly NewEvent[]): void {
    const parent = parents.get(noteId);
    if (parent && made.some(({ type }) => type === 'NoteApproved'))
      parents.set(noteId, { ...parent, state: 'approved' });
  }

  /** Teaches decisions on notes that were not screened yet, so that the same text is recognised. */
  const fingerprints = (appends: readonly OwnAppend[]): OwnAppend[] =>
    appends.flatMap((append) => {
      const row = notes.get(noteIdOf(append));
      if (!decides(append) || !row?.message) return [];
      const stream = screeningStream(row.note_id);
      const screenings = streams.get(stream) ?? [];
      const { corrections } = row;
      if (knownOfText(replay(screening, screenings), corrections).fingerprinted) return [];
      const event = toNoteFingerprinted(row.note_id, corrections, fingerprint(row.message));
      const version = streamVersion(screenings);
      return [{ owner: append.owner, stream, version, actor: SERVICE_ACTOR, events: [event] }];
    });

  function jobs(append: OwnAppend): Job[] {
    const row = notes.get(noteIdOf(append));
    const parent = (row?.parent_id && parents.get(row.parent_id)) || null;
    if (!row) return [];
    const tell = notifyAuthorJobs(row, parent?.member_id ?? null, append, undoSeconds);
    // A note that was decided before its screening is screened now that it is pending again.
    return reopens(append) ? [...tell, screeningJob([row.note_id])] : tell;
  }

  /** What decisions on notes write. */
  function writes(decided: readonly DecidedNote[]) {
    const appends = decided.map(({ append }) => append);
    const takenOver = decided.flatMap((one) => one.takenOver);
    return {
      appends: [...appends, ...takenOver, ...fingerprints(appends)],
      rows: [
        dropLeases('note', appends.map(noteIdOf)),
        ...appends
          .filter(erases)
          .flatMap((append) => erasePersonal(append.owner, noteIdOf(append))),
      ],
      jobs: appends.flatMap(jobs),
    };
  }

  /** What those write that were not refused, and the result on each note, from the recorded events. */
  function settle(made: ReadonlyMap<string, DecidedNote | Refusal<DecideRefusal>>) {
    const decided = [...made.values()].filter((one) => !isRefusal(one)) as DecidedNote[];
    const resultOn = (noteId: string, events: readonly RecordedEvent[]): Result => {
      const one = made.get(noteId) ?? refuse('not_found');
      return isRefusal(one) ? one : toResult(one, events, undoSeconds);
    };
    return { writes: decided.length > 0 ? writes(decided) : { appends: [] }, resultOn };
  }

  const isReply = ({ noteId }: RequestedDecision) => (notes.get(noteId)?.parent_id ? 1 : 0);
  return {
    open,
    accept,
    review,
    /** A note before its replies, whatever the order of the request. */
    inOrder: (asked: readonly RequestedDecision[]) =>
      asked.toSorted((left, right) => isReply(left) - isReply(right)),
    writes,
    settle,
  };
}

function toResult(
  { append, before }: DecidedNote,
  recorded: readonly RecordedEvent[],
  undoSeconds: number,
): Decided {
  const events = recorded.filter(({ stream_id }) => stream_id === append.stream);
  const event = events.at(-1);
  const after = (events as RecordedEvent<NoteEvents>[]).reduce(note.evolve, before);
  if (!event || after.status === 'none') throw new Error('a decision without an event');
  const { event_id, stream_version: version, recorded_at } = event;
  const tier = after.status === 'pending' ? { tier: after.tier } : {};
  return {
    status: events.some(({ type }) => type === 'DecisionUndone') ? 'undone' : 'decided',
    event_id,
    state: after.status,
    ...tier,
    version,
    undo_until: isUndoable(event) ? notifiedAt(recorded_at, undoSeconds).toISOString() : null,
  };
}

/** Whether the note has no text any more, or ends with its author's account. */
export const isGone = ({ message, ended }: LockedNote): boolean => message === null || ended;
