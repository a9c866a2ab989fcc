import { z } from 'zod';
import { defineContract } from '../../platform/http/route.ts';
import { asInteger, Cursor, Limit } from '../../platform/http/schemas.ts';
import { UpdateEvent } from './update-event.ts';

const MAX_WAIT = 25;
const TYPE = '[a-z_]{1,40}\\.(?:[a-z_]{1,40}|\\*)';

const isWildcard = (type: string): boolean => type.endsWith('.*');

const Wait = z
  .string()
  .regex(/^(?:1?\d|2[0-5])$/, `must be an integer from 0 to ${MAX_WAIT}`)
  .transform(Number)
  .default(0)
  .meta(asInteger({ minimum: 0, maximum: MAX_WAIT, default: 0 }));

const MAX_TYPES = 20;

/** Types that are wanted: whole names, and subjects whose every type is wanted. */
export interface WantedTypes {
  names: string[];
  subjects: string[];
}

const Types = z
  .string()
  .regex(
    new RegExp(`^${TYPE}(?:,${TYPE}){0,${MAX_TYPES - 1}}$`),
    `must be at most ${MAX_TYPES} types, such as case.claimed or case.*, separated by commas`,
  )
  .transform((text): WantedTypes => {
    const types = text.split(',');
    const [all, names] = [types.filter(isWildcard), types.filter((type) => !isWildcard(type))];
    return { names, subjects: all.map((type) => type.slice(0, -2)) };
  });

export const UpdatesPage = z
  .object({
    status: z.literal('ok'),
    events: z.array(UpdateEvent),
    next_cursor: z.string(),
    has_more: z.boolean(),
  })
  .meta({ id: 'UpdatePage' });

export const updatesContract = defineContract({
  'updates.list': {
    method: 'GET',
    path: '/api/v1/updates',
    summary: "The member's own events, oldest first, from a cursor on",
    description:
      'Gap-free and in order, delivered at least once. Save `next_cursor` together with its page. ' +
      'A cursor outlives credentials, rotation and recovery. After the log was restored from a ' +
      'backup, a cursor beyond what was kept is refused with `cursor_reset`. With `wait`, a request that has no ' +
      'event to answer is held until one comes, the seconds are over or the credential ends (401). ' +
      'A credential may have 20 waiting requests at one time (429 `rate_limited`, set by the operator). ' +
      'Where the service holds as many as it can, it answers without waiting.\n\n' +
      'With `start=now` in place of a cursor, the answer is an empty page whose cursor is at the newest event. ' +
      'With `types`, only events of these types are returned, with the sequence that they have in the whole ' +
      'feed; a page may then be empty although `has_more` is true, because an answer looks at a few thousand ' +
      'events at most.\n\n' +
      'Ignore events of a type that you do not know: a later release may add types.',
    tag: 'updates',
    access: { scope: 'updates:read' },
    query: z.object({
      cursor: Cursor.optional(),
      start: z.enum(['now']).optional(),
      types: Types.optional().meta({
        override: { type: 'string', example: 'case.*,note.approved' },
      }),
      limit: Limit,
      wait: Wait,
    }),
    replies: { 200: { description: 'A page, which may be empty', body: UpdatesPage } },
    problems: [
      'credential_not_accepted',
      'scope_required',
      'invalid_request',
      'invalid_cursor',
      'cursor_reset',
      'rate_limited',
    ],
  },
});
