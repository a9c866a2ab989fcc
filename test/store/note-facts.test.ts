import { randomUUID } from 'node:crypto';
import t from 'tap';
import { type NoteCommand, note } from '../../domain/guestbook/note.ts';
import { rewindNote } from '../../domain/guestbook/rewind.ts';
import type { ExistingNote, NoteState } from '../../domain/guestbook/state.ts';
import { noteStream } from '../../domain/guestbook/words.ts';
import { memberOwner } from '../../domain/owners.ts';
import { signedIn } from '../../harness/registration.ts';
import { readStream } from '../../platform/eventstore/append.ts';
import type { Actor, NewEvent, RecordedEvent } from '../../platform/eventstore/event.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { noteFacts, type SettledReportsOf } from '../../projections/guestbook/note-facts.ts';
import {
  decisionsOnNote,
  undoneOnNote,
} from '../../services/moderation/rewind/moderator-decisions.ts';
import { createRandom } from '../support/random.ts';
import { startService } from '../support/service.ts';

const UNDO_SECONDS = 600;
const MODERATORS = [randomUUID(), randomUUID()];
const BATCH = randomUUID();
const REASONS = ['spam', 'abuse', 'other'] as const;
const MIN_NOTES = 12;
const MAX_NOTES = 120;
const STEPS = 24;

const common = (expectedVersion: number | null, moderatorId: string) => ({
  expectedVersion,
  claimedAt: null,
  moderatorId,
  message: null,
  parent: null,
  policy: 'spam',
  why: 'Unsure',
  until: new Date(Date.now() + 3_600_000),
  lead: true,
  role: 'lead',
  undoSeconds: UNDO_SECONDS,
  authorGone: false,
  now: new Date(),
});

const undo = (of: string, moderatorId: string, more = {}) =>
  ({ type: 'UndoDecision', ...common(null, moderatorId), of, ...more }) as NoteCommand;

const REVIEWS = [
  'ApproveNote',
  'RejectNote',
  'EscalateNote',
  'DeferNote',
  'RemoveNote',
  'RestoreNote',
  'KeepNote',
  'GrantAppeal',
  'UpholdAppeal',
] as const;

/** The commands that need no settled reports. */
const plain = (state: ExistingNote, moderatorId: string): NoteCommand[] =>
  [state.version, Math.max(1, state.version - 1), state.reviewVersion].flatMap((version) => [
    ...REVIEWS.map((type) => ({ type, ...common(version, moderatorId) }) as NoteCommand),
    { type: 'EscalateOldNote', now: new Date() },
    { type: 'EraseNote', cause: 'account_deletion' },
    { type: 'EndAppealPeriod', undoSeconds: 0, now: new Date(Date.now() + 30 * 86_400_000) },
  ]);

const byAuthor = (memberId: string, undoSeconds: number, now = new Date()): NoteCommand[] => [
  { type: 'WithdrawNote', memberId, undoSeconds, now },
  { type: 'OpenAppeal', appealId: randomUUID(), memberId, text: 'Why?', undoSeconds, now },
];

const rewind = (events: readonly RecordedEvent[], state: NoteState, moderatorId: string) =>
  rewindNote(state as ExistingNote, {
    ...common(null, moderatorId),
    role: 'lead',
    decisions: decisionsOnNote(events, moderatorId, new Date(0)),
    undone: undoneOnNote(events),
    erased: false,
    batchId: BATCH,
  });

t.test('a decision follows from the facts of a note as from its whole stream', async (t) => {
  const service = await startService(t);
  const { pool, store } = service.core;
  const { id: author } = await signedIn(service);
  const random = createRandom();
  t.comment(`seed ${random.seed}`);
  const { pick } = random;
  const owner = memberOwner(author);
  const seen = new Set<string>();

  async function take(id: string, version: number, actor: Actor, events: NewEvent[]) {
    await store.execute({
      lock: [author],
      load: null,
      decide: () => ({
        answer: null,
        appends: [{ owner, stream: noteStream(id), version, actor, events }],
      }),
    });
  }

  // Few of the random courses reach some of these.
  const rare = ['ReportsDismissed', 'AppealGranted', 'NoteWithdrawn', 'DecisionUndone'];
  const isMissing = (type: string) => !seen.has(type);
  for (let count = 0; count < MIN_NOTES || (count < MAX_NOTES && rare.some(isMissing)); count++) {
    const id = randomUUID();
    const submitted = note.decide(note.initial, {
      type: 'SubmitNote',
      noteId: id,
      experience: 'service',
      memberId: author,
      parentId: null,
      name: 'Ada',
      message: 'Hello',
      parent: null,
      admission: true,
    });
    if (isRefusal(submitted)) throw new Error(submitted.refused);
    await take(id, 0, { type: 'member', id: author }, submitted);
    for (let step = 0; step < STEPS; step++) {
      const whole = await query(pool, readStream(owner, noteStream(id)));
      const state = note.replay(whole) as ExistingNote;
      const by = pick(MODERATORS);
      const factsWith = async (settled: SettledReportsOf) => {
        const facts = noteFacts([id], settled);
        const { found } = facts.load((await query(pool, facts.find)) as never);
        return (await Promise.all(found.map((read) => query(pool, read)))).flat();
      };
      const compare = async (commands: readonly NoteCommand[], settled: SettledReportsOf) => {
        const facts = note.replay(await factsWith(settled));
        for (const command of commands) {
          const decided = note.decide(state, command);
          t.strictSame(note.decide(facts, command), decided, `${command.type}, step ${step}`);
          if (!isRefusal(decided)) for (const { type } of decided) seen.add(type);
        }
      };
      const undos = whole
        .filter(({ actor }) => actor.type === 'moderator')
        .flatMap(({ event_id }) => [
          undo(event_id, by),
          undo(event_id, by, { authorGone: true }),
        ]) as Extract<NoteCommand, { type: 'UndoDecision' }>[];
      await compare(plain(state, by), {});
      await compare([...byAuthor(author, UNDO_SECONDS), ...byAuthor(author, 0)], {
        decisions: ['rejected'],
      });
      for (const command of undos) await compare([command], { undone: [command.of] });
      const dismissed = await factsWith({ decisions: ['kept'] });
      t.strictSame(
        rewind(dismissed, note.replay(dismissed), by),
        rewind(whole, state, by),
        `rewind, step ${step}`,
      );

      const report: NoteCommand = {
        type: 'ReportNote',
        reportId: randomUUID(),
        memberId: null,
        repeated: false,
        reason: pick(REASONS),
        details: null,
        parent: null,
      };
      const ending: readonly string[] = ['WithdrawNote', 'EraseNote', 'EndAppealPeriod'];
      const all = [...plain(state, by), ...byAuthor(author, 0), ...undos, ...undos, report];
      const possible = all.filter((command) => {
        const decided = note.decide(state, command);
        const last = ending.includes(command.type) && step < STEPS - 2;
        return !isRefusal(decided) && decided.length > 0 && !last;
      });
      const byType = [...Map.groupBy(possible, ({ type }) => type).values()];
      if (byType.length === 0) break;
      const command =
        state.status === 'approved' && random.below(2) === 0 ? report : pick(pick(byType));
      const decided = note.decide(state, command);
      if (isRefusal(decided)) throw new Error(decided.refused);
      const actor: Actor =
        command.type === 'ReportNote'
          ? { type: 'guest' }
          : command.type === 'OpenAppeal'
            ? { type: 'member', id: author }
            : { type: 'moderator', id: by };
      await take(id, state.version, actor, decided);
    }
  }
  for (const type of rare) t.notOk(isMissing(type), `${type} was compared`);
});
