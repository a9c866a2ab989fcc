import { z } from 'zod';
import { DECIDERS, READERS } from '../../../domain/moderation/roles.ts';
import { SUBJECT_TYPES } from '../../../domain/moderation/subject.ts';
import { REPLAYED_HEADER } from '../../../platform/http/keyed-call.ts';
import { defineContract } from '../../../platform/http/route.ts';
import { Uuid } from '../../../platform/http/schemas.ts';
import { QueueItem } from '../queue/record-item.ts';
import { DECIDE_PROBLEMS, DECISION_ROUTE, Decided, HistoryQuery, history } from './contract.ts';

/** The actions on a note or record after its publication, and those on the appeal of a membership. */
export const SubjectDecision = z
  .discriminatedUnion('action', [
    DECISION_ROUTE.remove,
    DECISION_ROUTE.restore,
    DECISION_ROUTE.keep,
    DECISION_ROUTE.grant,
    DECISION_ROUTE.uphold,
  ])
  .meta({ id: 'SubjectDecision' });
export type SubjectDecision = z.output<typeof SubjectDecision>;

/** A decision on an appeal. */
export type AppealDecision = Extract<SubjectDecision, { action: 'grant' | 'uphold' }>;
/** A decision on a record. */
export type RecordDecision = Exclude<SubjectDecision, AppealDecision>;

const SubjectDetails = z
  .object({ status: z.literal('ok'), item: QueueItem, ...history })
  .meta({ id: 'SubjectDetails' });

const params = z.object({ type: z.enum(SUBJECT_TYPES), id: Uuid });

export const subjectContract = defineContract({
  'moderation.subject': {
    method: 'GET',
    path: '/api/moderation/subjects/:type/:id',
    summary: 'A note, a published record or a membership, with its history',
    description:
      "A profile's id is its member's. A note answers its own item. Only leads read memberships: " +
      'the latest disabling, the appeal against it and what was decided.',
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
    problems: [
      'invalid_request',
      'moderator_required',
      'role_required',
      'not_found',
      'invalid_cursor',
    ],
  },
  'moderation.decide_subject': {
    method: 'POST',
    path: '/api/moderation/subjects/:type/:id/decisions',
    summary:
      'Remove something published, restore it, or keep it despite reports; or decide on an appeal',
    description:
      "expected_version is the item's. A removal names a policy; its undo is that of every decision. A lead restores, never who removed. " +
      'grant and uphold are for notes and memberships, the rest for notes and records. A lead decides ' +
      "on a membership's appeal, never who disabled it; granted, the membership is enabled. The member " +
      'learns the outcome and the words after the undo window.',
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
