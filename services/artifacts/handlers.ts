import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { publish, supersede } from '../../domain/artifacts/artifact.ts';
import { memberOwner } from '../../domain/owners.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { optional } from '../../platform/eventstore/load.ts';
import { type Content, type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import { contentHash } from '../../platform/json.ts';
import { toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import {
  type ArtifactRow,
  findArtifact,
  publishedArtifacts,
} from '../../projections/artifacts/artifacts.ts';
import { byBearer, type MemberDeps } from '../credentials/by-bearer.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { artifactStreams, loadOwnArtifact } from './artifact-stream.ts';
import { artifactsContract } from './contract.ts';
import type { Packet } from './packet.ts';

export interface ArtifactsDeps extends MemberDeps {
  readPool: pg.Pool;
}

export function artifactsHandlers(deps: ArtifactsDeps): Handlers<typeof artifactsContract> {
  const { readPool, store } = deps;
  return {
    'artifact.publish': (call) => {
      const { body: packet, sent } = call;
      const { memberId } = call.principal;
      const { supersedes_id: supersedesId } = packet;
      const owner = memberOwner(memberId);
      const id = randomUUID();
      // The fields in the order in which they were sent. The validated packet differs from them only in
      // that order and in the case of a UUID.
      const kept = { ...sent, supersedes_id: supersedesId } as unknown as Packet;
      const hash = contentHash(kept);
      return handle(store, byBearer(deps, call), {
        load: {
          earlier: optional(
            supersedesId === null ? null : artifactStreams.load(owner, supersedesId),
          ),
        },
        decide({ earlier }, now) {
          const superseded = earlier?.append(
            supersede(earlier.state, { type: 'SupersedeArtifact', by: id, authorId: memberId }),
          );
          if (isRefusal(superseded)) return superseded;
          const created = artifactStreams.create(owner, id);
          const published = created.append(
            publish(created.state, {
              type: 'PublishArtifact',
              artifactId: id,
              authorId: memberId,
              kind: packet.kind,
              title: packet.title,
              contentHash: hash,
              packet: JSON.stringify(kept),
              policyVersion: packet.policy_version,
              supersedesId,
            }),
          );
          if (isRefusal(published)) return published;
          return {
            appends: [...published.appends, ...(superseded?.appends ?? [])],
            reply: (receipt) => ({
              status: 201,
              body: {
                status: 'published',
                artifact: {
                  id,
                  author_id: memberId,
                  created_at: now.toISOString(),
                  content_hash: hash,
                  packet: kept,
                },
                receipt,
              },
            }),
          };
        },
      });
    },

    'artifact.withdraw': (call) => {
      const { artifact_id: id } = call.params;
      const { memberId } = call.principal;
      return handle(store, byBearer(deps, call), {
        load: { own: loadOwnArtifact(memberId, id) },
        decide({ own }) {
          const withdrawn = own.decide({
            type: 'WithdrawArtifact',
            authorId: memberId,
            reason: 'author',
          });
          if (isRefusal(withdrawn)) return withdrawn;
          return {
            ...withdrawn,
            rows: [dropLeases('artifact', [id])],
            reply: (receipt) => ({ status: 200, body: { status: 'withdrawn', id, receipt } }),
          };
        },
      });
    },

    'artifacts.list': async ({ query: { ids, author_id: author, kind, cursor, limit } }) => {
      const place = toKeysetPosition('artifacts', cursor);
      if (isRefusal(place)) return place;
      const rows = await query(
        readPool,
        publishedArtifacts({ ids, author, kind }, limit + 1, place),
      );
      const page = toPage('artifacts', rows, limit, (last) => ({
        at: last.place,
        id: last.artifact_id,
      }));
      return {
        status: 200,
        body: {
          status: 'ok',
          artifacts: page.rows.map((row) => ({
            id: row.artifact_id,
            author_id: row.author_id,
            title: row.title,
            kind: row.kind,
            created_at: row.created_at.toISOString(),
            content_hash: row.content_hash,
          })),
          ...page.next,
        },
      };
    },

    'artifacts.get': async ({ params }) => {
      const [row] = await query(readPool, findArtifact(params.artifact_id));
      if (!row) return refuse('not_found');
      if (row.state !== 'published' || row.packet === null) return refuse('gone');
      return { status: 200, content: recordOf(row) };
    },
  };
}

/** Inserts the stored text of the packet into the response without parsing it. */
function recordOf({
  artifact_id,
  author_id,
  created_at,
  content_hash,
  packet,
}: ArtifactRow): Content {
  const id = JSON.stringify(artifact_id);
  const facts = `"id":${id},"author_id":"${author_id}","created_at":"${created_at.toISOString()}"`;
  return {
    type: 'application/json; charset=utf-8',
    bytes: `{"artifact":{${facts},"content_hash":"${content_hash}","packet":${packet}}}`,
    etag: `"${content_hash}"`,
  };
}

export const routes = (deps: ArtifactsDeps): readonly Routes[] => [
  implement(artifactsContract, artifactsHandlers(deps)),
];
