import { screeningJob } from '../../../domain/guestbook/jobs.ts';
import { type NoteCommand, note } from '../../../domain/guestbook/note.ts';
import type { NoteEvents, NoteState, ParentFacts } from '../../../domain/guestbook/state.ts';
import { noteStream, screeningStream } from '../../../domain/guestbook/streams.ts';
import { notifiedAt } from '../../../domain/publications/undo.ts';
import { type Append, streamVersion } from '../../../platform/eventstore/append.ts';
import { replay } from '../../../platform/eventstore/decider.ts';
import type { NewEvent, RecordedEvent } from '../../../platform/eventstore/event.ts';
import {
  type Command,
  type Decision,
  defineCommand,
  type Job,
  type Writes,
} from '../../../platform/eventstore/event-store.ts';
import type { Rows } from '../../../platform/eventstore/load.ts';
import type { PrincipalOf, Role } from '../../../platform/http/principal.ts';
import { isRefusal, type Refusal, refuse, wrongState } from '../../../platform/refusal.ts';
import { ownerOfNote } from '../../../projections/guestbook/notes.ts';
import { moderatorNames } from '../../../projections/moderation/actor-names.ts';
import { findPolicy } from '../../../projections/moderation/policies.ts';
import { erasePersonal } from '../../guestbook/erase-notes.ts';
import { notifyAuthorJobs } from '../../guestbook/notify-author.ts';
import { dropLeases } from '../../publications/review-leases.ts';
import { type Fingerprint, toFingerprint } from '../../screening/fingerprint.ts';
import { knownOfText, screening, toNoteFingerprinted } from '../../screening/screening.ts';
import { takeOverAppend, takeOverStream } from '../claims/leases.ts';
import { type ClaimOverride, overrideClaim } from '../claims/override.ts';
import type { ModerationDeps } from '../deps.ts';
import { shareLockModerator } from '../staff/lock-moderator.ts';
import type { Decided } from './contract.ts';
import {
  holdParents,
  liveLeasesOn,
  lockNotes,
  membersConcerned,
  readNoteStreams,
  readTakeOvers,
  withWinner,
} from './decide-rows.ts';
import { type Request, wrongRequest } from './request.ts';

export type DecideRefusal =
  | 'moderator_required'
  | 'role_required'
  | 'not_found'
  | 'invalid_request'
  | 'state_conflict';

type Moderator = PrincipalOf<'moderator'>;

const SERVICE = { type: 'service' } as const;

/** The facts from which a decision on a note builds its command. */
interface Facts {
  me: { moderatorId: string; role: Role };
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
  command: (facts: Facts) => NoteCommand;
}

export type Result = Decided | Refusal<DecideRefusal>;

interface Accepted {
  append: Append;
  takenOver: Append[];
  /** The state of the note before the decision. */
  before: NoteState;
}

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

/** The command for one decision; it is refused if the decision is refused. */
export function reviewCommand(
  me: Moderator,
  asked: RequestedDecision,
  options: DeskOptions,
  request: Request = {},
): Command<Decided, DecideRefusal> {
  const many = reviewsCommand(me, [asked], options, request);
  return {
    ...many,
    decide(loaded): Decision<Decided, DecideRefusal> {
      const decision = many.decide(loaded);
      if (isRefusal(decision)) return decision;
      if ('unchanged' in decision) return decision.unchanged[0] as Refusal<DecideRefusal>;
      const { answer } = decision as Writes<Result[]> & {
        answer: (events: RecordedEvent[]) => Result[];
      };
      return { ...decision, answer: (events: RecordedEvent[]) => answer(events)[0] as Decided };
    },
  };
}

/** The command for several decisions in one transaction; each is accepted or refused separately. */
export function reviewsCommand(
  me: Moderator,
  asked: readonly RequestedDecision[],
  { undoSeconds, fingerprint }: DeskOptions,
  request: Request = {},
): Command<Result[], 'moderator_required' | 'role_required' | 'invalid_request'> {
  const ids = [...new Set(asked.map(({ noteId }) => noteId))];
  const takeOvers = asked.filter(({ overrides }) => overrides !== 'claims' && overrides.takeOver);
  const notes = notesLoad(
    ids,
    takeOvers.map(({ noteId }) => noteId),
  );
  const policies = 'policy' in request ? findPolicy(request.policy) : null;
  return defineCommand({
    find: membersConcerned(ids),
    load: { moderators: shareLockModerator(me), notes, policies },
    decide({ rows, now }) {
      const [live] = rows.moderators;
      if (!live) return refuse('moderator_required');
      const barred = asked.find(({ roles }) => roles?.includes(live.role) === false);
      if (barred) return refuse('role_required', { roles: barred.roles });
      const wrong = wrongRequest(request, rows.policies, now);
      if (wrong) return wrong;
      const desk = openDesk({ ...me, role: live.role }, rows.notes, now, undoSeconds);
      const results = new Map<string, Accepted | Refusal<DecideRefusal>>();
      // Decide on a note before its replies, whatever the order of the request.
      for (const item of desk.inOrder(asked)) results.set(item.noteId, desk.review(item));
      const appends = [...results.values()].flatMap((result) =>
        isRefusal(result) ? [] : [result.append],
      );
      const takenOver = [...results.values()].flatMap((result) =>
        isRefusal(result) ? [] : result.takenOver,
      );
      const answer = (events: RecordedEvent[]): Result[] =>
        asked.map(({ noteId }) => {
          const result = results.get(noteId) ?? refuse('not_found' as const);
          return isRefusal(result) ? result : decided(result, events, undoSeconds);
        });
      if (appends.length === 0) return { unchanged: answer([]) };
      return {
        answer,
        appends: [...appends, ...takenOver, ...desk.fingerprints(appends, fingerprint)],
        rows: [
          dropLeases('note', appends.map(noteIdOf)),
          ...appends.filter(erases).map((append) => erasePersonal(append.owner, noteIdOf(append))),
        ],
        jobs: appends.flatMap((append): Job[] => desk.jobs(append)),
      };
    },
  });
}

function notesLoad(ids: readonly string[], takeOvers: readonly string[]) {
  return {
    notes: lockNotes(ids),
    parents: holdParents(ids),
    events: readNoteStreams(ids),
    names: moderatorNames(),
    leases: liveLeasesOn(ids),
    takeOvers: takeOvers.length > 0 ? readTakeOvers(takeOvers) : null,
  };
}

/** Whether the events make a decided note pending again. */
const reopens = ({ events }: Append): boolean => {
  const last = events.at(-1) as NewEvent<NoteEvents> | undefined;
  return (
    last?.type === 'DecisionUndone' &&
    (last.data.decision === 'approved' || last.data.decision === 'rejected')
  );
};
const decides = ({ events }: Append) =>
  events.some(({ type }) => ['NoteApproved', 'NoteRejected', 'NoteRemoved'].includes(type));
const erases = ({ events }: Append) => events.some(({ type }) => type === 'NoteErased');
const noteIdOf = ({ stream }: Append): string => stream.slice('note-'.length);

/** The notes under review as read under the locks, with their parents and leases. */
function openDesk(
  me: { moderatorId: string; role: Role },
  rows: Rows<ReturnType<typeof notesLoad>>,
  now: Date,
  undoSeconds: number,
) {
  const notes = new Map(rows.notes.map((row) => [row.note_id, row]));
  const parents = new Map<string, ParentFacts>(rows.parents.map((row) => [row.note_id, row]));
  const leases = new Map(rows.leases.map((lease) => [lease.note_id, lease]));
  const events = [...rows.events.flat(), ...rows.takeOvers.flat()];
  const streams = Map.groupBy(events, (event) => event.stream_id);

  function review({
    noteId,
    overrides,
    command: make,
  }: RequestedDecision): Accepted | Refusal<DecideRefusal> {
    const row = notes.get(noteId);
    const events = streams.get(noteStream(noteId));
    // A note that was submitted after the owners were looked up has a row, but no events yet.
    if (!row || !events) return refuse('not_found');
    const lease = leases.get(noteId);
    const own = lease?.moderator_id === me.moderatorId;
    const command = make({
      me,
      claimedAt: lease && own ? lease.claimed_at.toISOString() : null,
      parent: (row.parent_id && parents.get(row.parent_id)) || null,
      authorGone: row.author_gone,
      now,
    });
    const before = note.replay(events);
    const gone = row.message === null || row.ended;
    const made = gone ? wrongState({ ...row, status: row.state }) : note.decide(before, command);
    if (isRefusal(made)) return withWinner(made as Refusal<DecideRefusal>, events, rows.names);
    const held = lease && !own ? lease : null;
    const claim = held && overrideClaim(held, overrides, me.role);
    if (isRefusal(claim)) return claim;
    const former = streams.get(takeOverStream({ type: 'note', id: noteId })) ?? [];
    follow(noteId, made);
    const append: Append = {
      owner: ownerOfNote(row),
      stream: noteStream(noteId),
      version: streamVersion(events),
      actor: { type: 'moderator', id: me.moderatorId },
      events: made,
    };
    const takenOver =
      held && claim === 'taken_over'
        ? [takeOverAppend(ownerOfNote(row), held, me.moderatorId, former)]
        : [];
    return { append, takenOver, before };
  }

  /** Marks a parent as approved, so that replies decided after it can be approved as well. */
  function follow(noteId: string, made: readonly NewEvent[]): void {
    const parent = parents.get(noteId);
    if (parent && made.some(({ type }) => type === 'NoteApproved'))
      parents.set(noteId, { ...parent, state: 'approved' });
  }

  const isReply = ({ noteId }: RequestedDecision) => (notes.get(noteId)?.parent_id ? 1 : 0);
  return {
    review,
    inOrder: (asked: readonly RequestedDecision[]) =>
      asked.toSorted((left, right) => isReply(left) - isReply(right)),
    /** Teaches decisions on notes that were not screened yet, so that the same text is recognised. */
    fingerprints: (appends: readonly Append[], fingerprint: DeskOptions['fingerprint']): Append[] =>
      appends.flatMap((append) => {
        const row = notes.get(noteIdOf(append));
        if (!decides(append) || !row?.message) return [];
        const stream = screeningStream(row.note_id);
        const screenings = streams.get(stream) ?? [];
        const { corrections } = row;
        if (knownOfText(replay(screening, screenings), corrections).fingerprinted) return [];
        const event = toNoteFingerprinted(row.note_id, corrections, fingerprint(row.message));
        const version = streamVersion(screenings);
        return [{ owner: append.owner, stream, version, actor: SERVICE, events: [event] }];
      }),
    jobs: (append: Append) => {
      const row = notes.get(noteIdOf(append));
      const parent = (row?.parent_id && parents.get(row.parent_id)) || null;
      if (!row) return [];
      const tell = notifyAuthorJobs(row, parent?.member_id ?? null, append, undoSeconds);
      // A note that was decided before its screening is screened now that it is pending again.
      return reopens(append) ? [...tell, screeningJob([row.note_id])] : tell;
    },
  };
}

const UNDOABLE = ['NoteApproved', 'NoteRejected', 'NoteRemoved', 'NoteDeferred', 'NoteEscalated'];

function decided(
  { append, before }: Accepted,
  recorded: RecordedEvent[],
  undoSeconds: number,
): Decided {
  const events = recorded.filter(({ stream_id }) => stream_id === append.stream);
  const event = events.at(-1);
  const after = (events as RecordedEvent<NoteEvents>[]).reduce(note.evolve, before);
  if (!event || after.status === 'none') throw new Error('a decision without an event');
  const { type, event_id, stream_version: version, recorded_at } = event;
  const undoable = UNDOABLE.includes(type) || 'undoable' in (event.data as object);
  const tier = after.status === 'pending' ? { tier: after.tier } : {};
  return {
    status: events.some(({ type }) => type === 'DecisionUndone') ? 'undone' : 'decided',
    event_id,
    state: after.status,
    ...tier,
    version,
    undo_until: undoable ? notifiedAt(recorded_at, undoSeconds).toISOString() : null,
  };
}
