import type { Subject } from '../../../domain/moderation/subject.ts';
import { handle } from '../../../platform/eventstore/handle.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import type { Reads } from '../../../platform/postgres/reads.ts';
import { isRefusal, type Refusal, refuse } from '../../../platform/refusal.ts';
import type { ModerationDeps } from '../deps.ts';
import { byModerator } from '../staff/by-moderator.ts';
import { readAsOf } from './as-of.ts';
import { decisionOn } from './commands.ts';
import { reviewCommand } from './decide.ts';
import { recordCommand } from './decide-record.ts';
import { deskOptions } from './desk.ts';
import { membershipScope, noteScope, recordScope } from './past-scopes.ts';
import { readMembership, readNote, readRecord } from './read-item.ts';
import type { AppealDecision, SubjectDecision, subjectContract } from './record-contract.ts';

export function subjectHandlers(deps: ModerationDeps): Handlers<typeof subjectContract> {
  const { config, store, publicationKinds, membershipReview } = deps;
  const undoSeconds = config.undoWindowSeconds;
  const subjectOf = (type: string) => publicationKinds.find((subject) => subject.type === type);

  function commandOn({ type, id }: Subject, decision: SubjectDecision) {
    if (type === 'note')
      return reviewCommand(decisionOn(id, decision), deskOptions(deps), decision);
    const isAppeal = isAppealDecision(decision);
    if (isAppeal !== (type === 'member')) return wrongAction(type);
    if (isAppeal) return membershipReview.decideAppeal(id, decision, undoSeconds);
    const subject = subjectOf(type);
    if (!subject) throw new Error(`no kind of record: ${type}`);
    return recordCommand(subject, id, decision, undoSeconds);
  }

  return {
    'moderation.subject': ({
      principal: me,
      params: { type, id },
      query: { history_before: before, as_of: asOf },
      request,
    }) => {
      const asked = { id, me, config, asOf, before };
      const kind = subjectOf(type);
      const read = async (reads: Reads) => {
        const found =
          type === 'member'
            ? await readMembership(reads, membershipReview, asked)
            : kind
              ? await readRecord(reads, kind, asked)
              : await readNote(reads, asked);
        if (isRefusal(found)) return found;
        return { status: 200 as const, body: { status: 'ok' as const, ...found } };
      };
      const scope =
        type === 'member'
          ? membershipScope(membershipReview, id)
          : kind
            ? recordScope(kind, publicationKinds, id)
            : noteScope(id);
      return readAsOf(deps, asOf, scope, read, request.gone());
    },

    'moderation.decide_subject': async (call) => {
      const { params, body } = call;
      const command = commandOn(params, body);
      if (isRefusal(command)) return command;
      return handle(store, byModerator(call, { alone: params.type === 'member' }), command);
    },
  };
}

const isAppealDecision = (decision: SubjectDecision): decision is AppealDecision =>
  decision.action === 'grant' || decision.action === 'uphold';

const wrongAction = (type: string): Refusal<'invalid_request'> =>
  refuse('invalid_request', {
    issues: [{ path: 'action', message: `is no action on a ${type.replace('_', ' ')}` }],
  });
