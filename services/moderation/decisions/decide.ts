import { type Command, defineCommand } from '../../../platform/eventstore/handle.ts';
import type { Rows } from '../../../platform/eventstore/load.ts';
import { isRefusal, type Refusal, refuse } from '../../../platform/refusal.ts';
import { findPolicy } from '../../../projections/moderation/policies.ts';
import type { ActiveModerator } from '../staff/by-moderator.ts';
import type { Decided, DecideRefusal } from './contract.ts';
import { membersConcerned, membersWithReports } from './decide-rows.ts';
import {
  type DecidedNote,
  type DeskOptions,
  notesLoad,
  openDesk,
  type RequestedDecision,
  type Result,
} from './desk.ts';
import { type DecideCommand, type Request, wrongRequest } from './request.ts';

/** Decisions on several notes. */
export type ReviewsCommand<Reply> = Command<
  Reply,
  'role_required' | 'invalid_request',
  ActiveModerator
>;

/** One decision on a note; the command is refused if the decision is. */
export function reviewCommand(
  asked: RequestedDecision,
  options: DeskOptions,
  request: Request = {},
): DecideCommand {
  const { settle, ...reads } = reviewing([asked], options, request);
  return defineCommand({
    ...reads,
    decide(loaded, now, me: ActiveModerator) {
      const settled = settle(loaded, now, me);
      if (isRefusal(settled)) return settled;
      const { writes, resultOn } = settled;
      if (writes.appends.length === 0) return resultOn(asked.noteId, []) as Refusal<DecideRefusal>;
      return {
        ...writes,
        reply: (events) => ({
          status: 201 as const,
          body: resultOn(asked.noteId, events) as Decided,
        }),
      };
    },
  });
}

/** Several decisions in one transaction; each is accepted or refused separately. */
export function reviewsCommand<Reply>(
  asked: readonly RequestedDecision[],
  options: DeskOptions,
  request: Request,
  reply: (results: [noteId: string, Result][]) => Reply,
): ReviewsCommand<Reply> {
  const { settle, ...reads } = reviewing(asked, options, request);
  return defineCommand({
    ...reads,
    decide(loaded, now, me: ActiveModerator) {
      const settled = settle(loaded, now, me);
      if (isRefusal(settled)) return settled;
      const { writes, resultOn } = settled;
      return {
        ...writes,
        reply: (events) => reply(asked.map(({ noteId }) => [noteId, resultOn(noteId, events)])),
      };
    },
  });
}

/** What decisions on notes read under the locks, and how they are made. */
function reviewing(asked: readonly RequestedDecision[], options: DeskOptions, request: Request) {
  const ids = [...new Set(asked.map(({ noteId }) => noteId))];
  const takeOvers = asked.filter(({ overrides }) => overrides !== 'claims' && overrides.takeOver);
  const undoes = asked.flatMap(({ undoes }) => undoes ?? []);
  const load = {
    notes: notesLoad(
      ids,
      takeOvers.map(({ noteId }) => noteId),
      { undone: undoes },
    ),
    policies: 'policy' in request ? findPolicy(request.policy) : null,
  };
  return {
    find: [membersConcerned(ids), ...(undoes.length > 0 ? [membersWithReports(ids)] : [])],
    load,
    settle({ notes, policies }: Rows<typeof load>, now: Date, me: ActiveModerator) {
      const barred = asked.find(({ roles }) => roles?.includes(me.role) === false);
      if (barred) return refuse('role_required', { roles: barred.roles });
      const wrong = wrongRequest(request, policies, now);
      if (wrong) return wrong;
      const desk = openDesk(me, notes, now, options);
      const made = new Map<string, DecidedNote | Refusal<DecideRefusal>>();
      for (const item of desk.inOrder(asked)) made.set(item.noteId, desk.review(item));
      return desk.settle(made);
    },
  };
}
