import { LEADS } from '../../../domain/moderation/roles.ts';
import type { Subject } from '../../../domain/moderation/subject.ts';
import { reportsStream } from '../../../domain/reports/reports.ts';
import { handle } from '../../../platform/eventstore/handle.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { query } from '../../../platform/postgres/query.ts';
import { snapshot } from '../../../platform/postgres/snapshot.ts';
import { isRefusal, type Refusal, refuse } from '../../../platform/refusal.ts';
import { noteOwners } from '../../../projections/guestbook/notes.ts';
import { moderatorNames } from '../../../projections/moderation/actor-names.ts';
import { recordAuthors } from '../../../projections/publications/records.ts';
import { takeOverStream } from '../claims/leases.ts';
import type { ModerationDeps } from '../deps.ts';
import { itemBodies } from '../queue/item-bodies.ts';
import { itemsById } from '../queue/item-rows.ts';
import { recordItemBody, withReports } from '../queue/record-item.ts';
import { byModerator } from '../staff/by-moderator.ts';
import { decisionOn } from './commands.ts';
import { reviewCommand } from './decide.ts';
import { recordCommand } from './decide-record.ts';
import { deskOptions } from './desk.ts';
import { commentStream, historyBodies, historyOf, noteStreams } from './history.ts';
import type { AppealDecision, SubjectDecision, subjectContract } from './record-contract.ts';

type Moderator = PrincipalOf<'moderator'>;

export function subjectHandlers(deps: ModerationDeps): Handlers<typeof subjectContract> {
  const { config, pool, store, publicationKinds, membershipReview } = deps;
  const undoSeconds = config.undoWindowSeconds;
  const subjectOf = (type: string) => publicationKinds.find((subject) => subject.type === type);

  /** A membership with its history; only leads know which ones are disabled, and why. */
  async function readMembership(me: Moderator, id: string, before: string | undefined) {
    if (!LEADS.includes(me.role)) return refuse('role_required', { roles: LEADS });
    const ref = { type: 'member' as const, id };
    const streams = {
      owner: id,
      streams: [membershipReview.stream(id), commentStream(ref), takeOverStream(ref)],
      note: null,
    };
    const page = historyOf(streams, before);
    if (isRefusal(page)) return page;
    const [[row], events, moderators] = await snapshot(pool, [
      membershipReview.items([id]),
      page,
      moderatorNames(),
    ]);
    if (!row) return refuse('not_found');
    const item = membershipReview.itemBody(row, { me, undoSeconds });
    return {
      status: 200 as const,
      body: { status: 'ok' as const, item, ...historyBodies(streams, events, moderators) },
    };
  }

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
    'moderation.subject': async ({
      principal: me,
      params: { type, id },
      query: { history_before: before },
    }) => {
      if (type === 'member') return readMembership(me, id, before);
      const subject = subjectOf(type);
      if (!subject) {
        const [owner] = await query(pool, noteOwners([id]));
        if (!owner) return refuse('not_found');
        const streams = noteStreams(owner);
        const page = historyOf(streams, before);
        if (isRefusal(page)) return page;
        const [rows, events, moderators] = await snapshot(pool, [
          itemsById([id]),
          page,
          moderatorNames(),
        ]);
        const [item] = await itemBodies(deps, me, rows);
        if (!item) return refuse('not_found');
        return {
          status: 200,
          body: { status: 'ok', item, ...historyBodies(streams, events, moderators) },
        };
      }
      const records = subject.records([id]);
      const ref = { type: subject.type, id };
      const [author] = await query(pool, recordAuthors(records));
      if (!author) return refuse('not_found');
      const streams = {
        owner: author.member_id,
        streams: [subject.stream(id), reportsStream(ref), commentStream(ref), takeOverStream(ref)],
        note: null,
      };
      const page = historyOf(streams, before);
      if (isRefusal(page)) return page;
      const [[row], events, moderators] = await snapshot(pool, [
        withReports(subject.type, records),
        page,
        moderatorNames(),
      ]);
      if (!row) return refuse('not_found');
      const item = recordItemBody(row, { me, undoSeconds });
      return {
        status: 200,
        body: { status: 'ok', item, ...historyBodies(streams, events, moderators) },
      };
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
