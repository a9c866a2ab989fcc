import { readStream } from '../../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import { handle } from '../../../platform/eventstore/handle.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { query } from '../../../platform/postgres/query.ts';
import { snapshot } from '../../../platform/postgres/reads.ts';
import { refuse } from '../../../platform/refusal.ts';
import { moderatorNames, nameActors } from '../../../projections/moderation/moderators.ts';
import { readOwner } from '../claims/claimable-items.ts';
import { commentStream, historyBody } from '../decisions/history.ts';
import type { ModerationDeps } from '../queue/deps.ts';
import { byModerator } from '../staff/by-moderator.ts';
import { addComment, deleteComment } from './comment.ts';
import type { commentsContract } from './contract.ts';

export function commentHandlers({
  pool,
  store,
  publicationKinds,
}: ModerationDeps): Handlers<typeof commentsContract> {
  return {
    'moderation.comments': async ({ params: subject }) => {
      const { find, from } = readOwner(subject, publicationKinds);
      const owner = from(await query(pool, find));
      if (!owner) return refuse('not_found');
      const [events, moderators] = await snapshot(pool, [
        readStream(owner, commentStream(subject)),
        moderatorNames(),
      ]);
      return {
        status: 200,
        body: {
          status: 'ok',
          comments: nameActors(withoutDeleted(events), moderators).map(historyBody),
        },
      };
    },

    'moderation.comment': (call) =>
      handle(store, byModerator(call), addComment(call.params, call.body.text, publicationKinds)),

    'moderation.delete_comment': (call) => {
      const { event_id: commentId, ...subject } = call.params;
      return handle(store, byModerator(call), deleteComment(subject, commentId, publicationKinds));
    },
  };
}

function withoutDeleted(events: readonly RecordedEvent[]): RecordedEvent[] {
  const deletions = events.filter(({ type }) => type === 'CommentDeleted');
  const deleted = new Set(deletions.map(({ data }) => (data as { of: string }).of));
  return events.filter(({ event_id, type }) => type === 'CommentAdded' && !deleted.has(event_id));
}
