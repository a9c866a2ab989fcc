import { z } from 'zod';
import { DECIDERS, READERS } from '../../../domain/moderation/roles.ts';
import { RECORD_TYPES } from '../../../domain/publications/record-type.ts';
import { REPLAYED_HEADER } from '../../../platform/http/replayed-header.ts';
import { defineContract } from '../../../platform/http/route.ts';
import { Uuid } from '../../../platform/http/schemas.ts';
import { QueueItem } from '../queue/record-item.ts';
import { DECIDE_PROBLEMS, DECISION_ROUTE, Decided, HistoryQuery, history } from './contract.ts';

/** A decision on a note or record after its publication. */
export const SubjectDecision = z
  .discriminatedUnion('action', [
    DECISION_ROUTE.remove,
    DECISION_ROUTE.restore,
    DECISION_ROUTE.keep,
  ])
  .meta({ id: 'SubjectDecision' });
export type SubjectDecision = z.output<typeof SubjectDecision>;

const SubjectDetails = z
  .object({ status: z.literal('ok'), item: QueueItem, ...history })
  .meta({ id: 'SubjectDetails' });

const params = z.object({ type: z.enum(['note', ...RECORD_TYPES]), id: Uuid });

export const subjectContract = defineContract({
  'moderation.subject': {
    method: 'GET',
    path: '/api/moderation/subjects/:type/:id',
    summary: 'A published record or note, with its reports and its history',
    description: "A profile's id is its member's. A note answers its own item.",
    tag: 'moderation',
    access: { roles: READERS },
    params,
    query: HistoryQuery,
    replies: {
      200: {
        description: 'The subject',
        body: SubjectDetails,
      },
    },
    problems: ['moderator_required', 'not_found', 'invalid_cursor'],
  },
  'moderation.decide_subject': {
    method: 'POST',
    path: '/api/moderation/subjects/:type/:id/decisions',
    summary: 'Remove something published, restore it, or keep it despite reports',
    description:
      "expected_version is the item's. A removal names a policy; its undo is that of every decision. A lead restores, never who removed.",
    tag: 'moderation',
    access: { roles: DECIDERS },
    params,
    body: SubjectDecision,
    idempotency: 'optional',
    replies: {
      201: {
        headers: REPLAYED_HEADER,
        location: '/api/moderation/subjects/:type/:id',
        description: 'Decided',
        body: Decided,
      },
    },
    problems: [...DECIDE_PROBLEMS, 'invalid_request'],
  },
});
