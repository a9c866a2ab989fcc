import { READERS } from '../../../domain/moderation/roles.ts';
import { defineContract } from '../../../platform/http/route.ts';

export const EVENT_STREAM = 'text/event-stream';

export const streamContract = defineContract({
  'moderation.stream': {
    method: 'GET',
    path: '/api/moderation/stream',
    summary: 'Changes of the queue, as server-sent events',
    description:
      'At first the claims (`complete`: all that there are) and the counts. Then `queue` ' +
      '`{type, event_id, subject: {type, id}, version, actor}`; `claim` `{complete, claims: ' +
      '[{lease_id, note_id, subject: {type, id}, moderator_id, expires_at}], released: [note_id], ' +
      'released_subjects: [{type, id}]}`; `counts` as the queue has them, and `colleagues`: how many ' +
      'others who decide have used a session within 15 minutes; `resync` `{reason}`: ' +
      'read the queue again. Ids and versions, never a text. ' +
      '`Last-Event-ID` goes on where a stream broke off; what was told may be told again. A comment ' +
      'comes every 15 seconds. The stream ends with the session or the moderator. ' +
      'A moderator may have 20 streams at one time (set by the operator), of as many as the process ' +
      'can hold beside the members who wait; beyond that 429 `rate_limited`.',
    tag: 'moderation',
    access: { roles: READERS },
    requestHeaders: {
      'Last-Event-ID': {
        description: 'The id of the last event received.',
        schema: { type: 'string' },
      },
    },
    replies: {
      200: {
        description: 'The stream',
        type: EVENT_STREAM,
        headers: { 'X-Accel-Buffering': 'Tells a proxy to pass it on at once' },
      },
    },
    problems: ['moderator_required', 'rate_limited'],
  },
});
