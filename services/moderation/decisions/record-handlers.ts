import { reportsStream } from '../../../domain/reports/reports.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { executeOnce } from '../../../platform/idempotent-calls.ts';
import { query } from '../../../platform/postgres/query.ts';
import { snapshot } from '../../../platform/postgres/snapshot.ts';
import { isRefusal, refuse } from '../../../platform/refusal.ts';
import { noteOwners } from '../../../projections/guestbook/notes.ts';
import { moderatorNames } from '../../../projections/moderation/actor-names.ts';
import { recordAuthors } from '../../../projections/publications/records.ts';
import { takeOverStream } from '../claims/leases.ts';
import type { ModerationDeps } from '../deps.ts';
import { itemBodies } from '../queue/item-bodies.ts';
import { itemsById } from '../queue/item-rows.ts';
import { recordItemBody, withReports } from '../queue/record-item.ts';
import { decisionOn } from './commands.ts';
import { reviewCommand } from './decide.ts';
import { recordCommand } from './decide-record.ts';
import { deskOptions } from './desk.ts';
import { commentStream, historyBodies, historyOf, noteStreams } from './history.ts';
import type { subjectContract } from './record-contract.ts';

export function subjectHandlers(deps: ModerationDeps): Handlers<typeof subjectContract> {
  const { config, pool, store, publicationKinds } = deps;
  const undoSeconds = config.undoWindowSeconds;
  const subjectOf = (type: string) => publicationKinds.find((subject) => subject.type === type);
  return {
    'moderation.subject': async ({
      principal: me,
      params: { type, id },
      query: { history_before: before },
    }) => {
      const subject = subjectOf(type);
      if (!subject) {
        const [owner] = await query(pool, noteOwners([id]));
        if (!owner) return refuse('not_found');
        const page = await historyOf(pool, noteStreams(owner), before);
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
          body: { status: 'ok', item, ...historyBodies(events, moderators) },
        };
      }
      const records = subject.records([id]);
      const ref = { type: subject.type, id };
      const streams = [
        subject.stream(id),
        reportsStream(ref),
        commentStream(ref),
        takeOverStream(ref),
      ];
      const [author] = await query(pool, recordAuthors(records));
      if (!author) return refuse('not_found');
      const page = await historyOf(pool, { owner: author.member_id, streams, note: null }, before);
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
        body: { status: 'ok', item, ...historyBodies(events, moderators) },
      };
    },

    'moderation.decide_subject': async (call) => {
      const { principal: me, params, body } = call;
      const subject = subjectOf(params.type);
      const command = subject
        ? recordCommand(me, subject, params.id, body, undoSeconds)
        : reviewCommand(me, decisionOn(params.id, body), deskOptions(deps), body);
      const decided = await executeOnce(store, call, command, 201);
      if (isRefusal(decided)) return decided;
      const { answer, ...extras } = decided;
      return { status: 201, body: answer, ...extras };
    },
  };
}
