import { z } from 'zod';
import { ARTIFACT_KINDS } from '../../domain/artifacts/words.ts';
import { REPLAYED_HEADER } from '../../platform/http/keyed-call.ts';
import { COMMAND_PROBLEMS } from '../../platform/http/problems.ts';
import { defineContract } from '../../platform/http/route.ts';
import {
  AnyUuid,
  Cursor,
  EmptyBody,
  Ids,
  Limit,
  NextPage,
  ReceiptBody,
  Timestamp,
  Uuid,
} from '../../platform/http/schemas.ts';
import { WRITES_PER_DAY } from '../../platform/limits/write-budget.ts';
import { WithdrawnReply } from '../publications/withdrawn-reply.ts';
import { Sha256 } from './fixture.ts';
import { MAX_PACKET_BYTES, Packet } from './packet.ts';

const BODY_LIMIT = 320 * 1024;

export const Artifact = z
  .object({
    id: AnyUuid,
    author_id: AnyUuid,
    created_at: Timestamp,
    content_hash: Sha256.meta({ description: 'SHA-256 of the RFC 8785 form of `packet`' }),
    packet: Packet,
  })
  .meta({ id: 'Artifact' });
export type ArtifactBody = z.input<typeof Artifact>;

const ListedArtifact = z
  .object({
    id: AnyUuid,
    author_id: AnyUuid,
    title: z.string(),
    kind: z.enum(ARTIFACT_KINDS),
    created_at: Timestamp,
    content_hash: Sha256,
  })
  .meta({ id: 'ListedArtifact' });

const ArtifactReply = z
  .object({ status: z.literal('published'), artifact: Artifact, receipt: ReceiptBody })
  .meta({ id: 'ArtifactReply' });

const ArtifactDetails = z.object({ artifact: Artifact }).meta({ id: 'ArtifactDetails' });

const ArtifactPage = z
  .object({
    status: z.literal('ok'),
    artifacts: z.array(ListedArtifact),
    ...NextPage,
  })
  .meta({ id: 'ArtifactPage' });

const params = z.object({ artifact_id: Uuid });

export const artifactsContract = defineContract({
  'artifact.publish': {
    method: 'POST',
    path: '/api/v1/artifacts',
    summary: 'Publish a context packet: a handoff, a brief or a result',
    description:
      'The body is the packet. It is public at once and never changes; `supersedes_id` names an earlier one ' +
      'of the same author, which nothing supersedes yet, and whose place it takes. As compact JSON it has at ' +
      `most ${MAX_PACKET_BYTES} bytes.`,
    tag: 'artifacts',
    access: { scope: 'artifact:publish' },
    gated: true,
    idempotency: 'required',
    bodyLimit: BODY_LIMIT,
    limits: [WRITES_PER_DAY],
    body: Packet,
    replies: {
      201: {
        description: 'Published',
        body: ArtifactReply,
        headers: REPLAYED_HEADER,
        location: '/api/v1/artifacts/{artifact.id}',
      },
    },
    problems: [...COMMAND_PROBLEMS, 'state_conflict'],
  },
  'artifact.withdraw': {
    method: 'POST',
    path: '/api/v1/artifacts/:artifact_id/withdraw',
    summary: "Withdraw one of the member's own packets",
    tag: 'artifacts',
    access: { scope: 'artifact:publish' },
    gated: true,
    idempotency: 'required',
    params,
    limits: [WRITES_PER_DAY],
    body: EmptyBody,
    replies: {
      200: {
        description: 'Withdrawn: reading it answers 410',
        body: WithdrawnReply,
        headers: REPLAYED_HEADER,
      },
    },
    problems: [...COMMAND_PROBLEMS, 'not_found', 'state_conflict'],
  },
  'artifacts.list': {
    method: 'GET',
    path: '/api/v1/artifacts',
    summary: 'Published packets, newest first',
    tag: 'artifacts',
    access: 'public',
    gated: true,
    query: z.object({
      ids: Ids,
      author_id: Uuid.optional(),
      kind: z.enum(ARTIFACT_KINDS).optional(),
      cursor: Cursor.optional(),
      limit: Limit,
    }),
    replies: {
      200: {
        description: 'One page',
        body: ArtifactPage,
      },
    },
    problems: ['invalid_cursor'],
  },
  'artifacts.get': {
    method: 'GET',
    path: '/api/v1/artifacts/:artifact_id',
    summary: 'A packet as its author wrote it',
    description: 'The ETag is the content hash.',
    tag: 'artifacts',
    access: 'public',
    gated: true,
    params,
    replies: {
      200: { description: 'The packet', body: ArtifactDetails },
    },
    problems: ['not_found', 'gone'],
  },
});
