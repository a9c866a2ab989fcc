import fc from 'fast-check';
import t from 'tap';
import { type NoteCommand, note } from '../../../domain/guestbook/note.ts';
import type { ExistingNote, NoteEvents, NoteState } from '../../../domain/guestbook/state.ts';
import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import {
  DAY_SECONDS,
  LEAD,
  NoteModel,
  type Step,
  steps,
  UNDO_SECONDS,
} from '../../support/note-model.ts';
import { answersOf, same, tries } from '../../support/sequences.ts';
import {
  ann,
  bob,
  carol,
  eventId,
  id,
  later,
  memberId,
  parent,
  parentId,
  submission,
} from './note-setting.ts';

const MODERATORS = [ann, bob, carol];
const MEMBERS = [memberId, ann, bob];
type Reviewed = Exclude<
  Step['act']['type'],
  'undo' | 'withdraw' | 'appeal' | 'report' | 'escalateOld' | 'endAppealPeriod' | 'erase'
>;

const BY_SERVICE: readonly string[] = ['escalateOld', 'endAppealPeriod', 'erase'];

function createCommand(step: Step, state: ExistingNote, second: number): NoteCommand {
  const { act, stale } = step;
  const now = later(second);
  const moderatorId = MODERATORS[step.moderator] as string;
  const expectedVersion = state.version + stale;
  const parentState = state.parentId
    ? { ...parent, state: step.parentPublic ? 'approved' : 'removed' }
    : null;
  const common = {
    expectedVersion,
    claimedAt: null,
    moderatorId,
    message: null,
    parent: parentState,
  };
  const names: Record<Reviewed, NoteCommand['type']> = {
    approve: 'ApproveNote',
    reject: 'RejectNote',
    escalate: 'EscalateNote',
    defer: 'DeferNote',
    remove: 'RemoveNote',
    restore: 'RestoreNote',
    keep: 'KeepNote',
    grant: 'GrantAppeal',
    uphold: 'UpholdAppeal',
  };
  switch (act.type) {
    case 'undo': {
      const of = eventId(Math.max(0, state.version - act.back));
      return {
        type: 'UndoDecision',
        ...common,
        of,
        role: act.role,
        authorGone: false,
        undoSeconds: UNDO_SECONDS,
        now,
      };
    }
    case 'withdraw':
      return {
        type: 'WithdrawNote',
        memberId: MEMBERS[act.member] as string,
        undoSeconds: UNDO_SECONDS,
        now,
      };
    case 'appeal':
      return {
        type: 'OpenAppeal',
        appealId: eventId(state.version + 1),
        memberId: MEMBERS[act.member] as string,
        text: 'Why?',
        undoSeconds: UNDO_SECONDS,
        now,
      };
    case 'report':
      return {
        type: 'ReportNote',
        reportId: eventId(state.version + 1),
        memberId: act.member === null ? null : (MEMBERS[act.member] as string),
        repeated: act.again,
        reason: act.reason,
        details: null,
        parent: parentState,
      };
    case 'escalateOld':
      return { type: 'EscalateOldNote', now };
    case 'endAppealPeriod':
      return { type: 'EndAppealPeriod', undoSeconds: UNDO_SECONDS, now };
    case 'erase':
      return { type: 'EraseNote', cause: act.retention ? 'retention' : 'account_deletion' };
    default: {
      const more = {
        policy: 'spam',
        why: 'Unsure',
        until: later(second + DAY_SECONDS),
        lead: step.moderator === LEAD,
      };
      return { type: names[act.type], ...common, ...more } as NoteCommand;
    }
  }
}

function shown(state: ExistingNote) {
  const pending = state.status === 'pending' ? state : null;
  const appeal = 'appeal' in state ? state.appeal.status : 'none';
  return {
    state: state.status,
    version: state.version,
    tier: pending?.tier ?? null,
    deferrals: pending?.deferrals ?? null,
    until: pending?.deferredUntil?.getTime() ?? null,
    appeal: appeal === 'period_over' ? 'over' : appeal,
    erased: 'erased' in state && state.erased,
    waiting: state.reports.open.map(({ reason }) => reason),
    kept: [...state.reports.dismissed].sort(),
  };
}

const modelState = ({ state, version, review, appeal, erased, waiting, kept }: NoteModel) => ({
  state,
  version,
  tier: state === 'pending' ? review.tier : null,
  deferrals: state === 'pending' ? review.deferrals : null,
  until: state === 'pending' && review.until > 0 ? later(review.until).getTime() : null,
  appeal,
  erased,
  waiting: waiting.map(({ reason }) => reason),
  kept: [...kept].sort(),
});

t.test('answers every command as the model does and replays to the same state', async (t) => {
  const answers = answersOf<Step['act']>();
  const property = fc.property(fc.boolean(), steps(40), (reply, sequence) => {
    const model = new NoteModel(reply);
    const log: RecordedEvent<NoteEvents>[] = [];
    let state = note.initial as NoteState;
    let second = 0;
    const take = (command: NoteCommand, by: string | null): string => {
      const decided = note.decide(state, command);
      if (isRefusal(decided)) return String(decided.details?.reason ?? decided.refused);
      for (const event of decided) {
        const recorded = {
          ...event,
          owner_id: memberId,
          stream_id: `note-${id}`,
          stream_version: log.length + 1,
          position: 0,
          event_id: eventId(log.length + 1),
          actor: by === null ? { type: 'service' } : { type: 'moderator', id: by },
          recorded_at: later(second),
        } as RecordedEvent<NoteEvents>;
        log.push(recorded);
        state = note.evolve(state, recorded);
      }
      return decided.length > 0 ? 'accepted' : 'nothing';
    };
    take({ ...submission, parentId: reply ? parentId : null, parent }, null);
    for (const step of sequence) {
      second += step.wait;
      const command = createCommand(step, state as ExistingNote, second);
      const by = BY_SERVICE.includes(step.act.type) ? null : MODERATORS[step.moderator];
      const answer = take(command, by ?? null);
      answers.agree(step.act, answer, model.act(step, second));
      same(shown(state as ExistingNote), modelState(model));
    }
    same(note.replay(log), state);
    for (const what of model.brought) answers.seen.add(`undo accepted: ${what}`);
  });
  fc.assert(property, tries(12_000));
  for (const answer of [
    ...['approve', 'reject', 'escalate', 'defer', 'remove', 'keep'].flatMap((type) =>
      ['accepted', 'wrong_state', 'version_mismatch'].map((answer) => `${type} ${answer}`),
    ),
    ...['restore', 'grant', 'uphold'].flatMap((type) =>
      ['accepted', 'wrong_state', 'second_person_required'].map((answer) => `${type} ${answer}`),
    ),
    ...['accepted', 'wrong_state', 'role_required', 'undo_expired'].map((a) => `undo ${a}`),
    ...['deferral', 'escalation', 'keep', 'grant', 'uphold'].map(
      (what) => `undo accepted: ${what}`,
    ),
    ...['accepted', 'wrong_state', 'already_appealed', 'not_found'].map((a) => `appeal ${a}`),
    ...['accepted', 'nothing', 'wrong_state', 'not_found'].map((a) => `withdraw ${a}`),
    ...['accepted', 'nothing', 'not_found'].map((answer) => `report ${answer}`),
    ...['escalateOld', 'endAppealPeriod', 'erase'].flatMap((type) => [
      `${type} accepted`,
      `${type} nothing`,
    ]),
    'approve parent_not_public',
  ])
    t.ok(answers.seen.has(answer), answer);
});
