import { z } from 'zod';
import { CLAIMERS, READERS } from '../../../domain/moderation/roles.ts';
import { VIEWS } from '../../../domain/moderation/words.ts';
import { defineContract } from '../../../platform/http/route.ts';
import { AnyUuid, GivenUuid, Text } from '../../../platform/http/schemas.ts';
import { LASTING_FILTERS } from '../queue/contract.ts';
import { Moderator } from '../queue/item.ts';

export const MAX_OWN_VIEWS = 20;
/** So many views, the first of the list, have keys in the console and are counted. */
export const MAX_COUNTED_VIEWS = 9;
/** A count ends here. */
export const MAX_COUNT = 100;

export const SavedFilters = z
  .strictObject({
    ...LASTING_FILTERS,
    older_than: z.int().min(0).max(999_999_999).describe('Seconds').optional(),
  })
  .meta({ id: 'SavedFilters', description: 'Filters and order, as the queue takes them.' });
export type SavedFilters = z.output<typeof SavedFilters>;

const SavedView = z
  .object({
    id: AnyUuid.describe('The id that the moderator chose; it is of this moderator alone'),
    name: z.string().describe('Chosen by the moderator'),
    shared: z.boolean().describe('Other moderators see it'),
    mine: z.boolean().describe('The caller saved it'),
    moderator: Moderator.describe('Who saved it'),
    view: z.enum(VIEWS).describe('The view of the queue'),
    filters: SavedFilters.describe('Its filters and order'),
    count: z
      .object({
        items: z.int().describe('How many items the view has'),
        more: z.boolean().describe('There are more, or not all of a long view was looked through'),
      })
      .meta({ id: 'SavedViewCount', description: 'The number of items of a saved view.' })
      .nullable()
      .describe(`At most ${MAX_COUNT}; null after the first ${MAX_COUNTED_VIEWS} views`),
  })
  .meta({ id: 'SavedView', description: 'A view of the queue that was saved under a name.' });
export type SavedView = z.input<typeof SavedView>;

const SavedViewList = z
  .object({ status: z.literal('ok'), views: z.array(SavedView).describe('The views') })
  .meta({ id: 'SavedViewList', description: 'Saved views.' });

const ViewToSave = z
  .strictObject({
    name: Text(1, 40).describe('For the list of saved views'),
    shared: z.boolean().describe('Other moderators see it'),
    view: z.enum(VIEWS).describe('The view of the queue'),
    filters: SavedFilters.describe('Its filters and order'),
  })
  .meta({ id: 'ViewToSave', description: 'A view of the queue, with the name to save it under.' });
export type ViewToSave = z.output<typeof ViewToSave>;

const ViewReply = z
  .object({ status: z.enum(['saved', 'deleted']), id: AnyUuid.describe('The id of the view') })
  .meta({ id: 'SavedViewReply', description: 'The view is saved or deleted.' });

const params = z.object({
  view_id: GivenUuid.describe('The id of the view, chosen by the client'),
});

export const viewsContract = defineContract({
  'moderation.views': {
    method: 'GET',
    path: '/api/moderation/views',
    summary: 'Saved views: your own in the order of saving, then what others share',
    description:
      `The first ${MAX_COUNTED_VIEWS} are counted. Of others, the ${MAX_OWN_VIEWS} that were shared last, without ` +
      'those of revoked moderators.',
    tag: 'views',
    access: { roles: READERS },
    replies: { 200: { description: 'The saved views', body: SavedViewList } },
    problems: ['moderator_required'],
  },
  'moderation.save_view': {
    method: 'PUT',
    path: '/api/moderation/views/:view_id',
    summary: 'Save a view with its filters under a name',
    description:
      'As a whole, by an id that the client chooses: the same again changes nothing. At most ' +
      `${MAX_OWN_VIEWS} for each moderator. Filters that name an author or an item are not saved.`,
    tag: 'views',
    access: { roles: CLAIMERS },
    params,
    body: ViewToSave,
    replies: { 200: { description: 'The view is saved', body: ViewReply } },
    problems: ['moderator_required', 'role_required', 'state_conflict'],
  },
  'moderation.delete_view': {
    method: 'DELETE',
    path: '/api/moderation/views/:view_id',
    summary: 'Delete a saved view of your own',
    tag: 'views',
    access: { roles: CLAIMERS },
    params,
    replies: { 200: { description: 'The view is deleted', body: ViewReply } },
    problems: ['moderator_required', 'role_required', 'not_found'],
  },
});
