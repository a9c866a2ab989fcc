import type pg from 'pg';
import type { Content, Handlers } from '../../platform/http/route.ts';
import { toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import {
  type ArtifactRow,
  findArtifact,
  publishedArtifacts,
} from '../../projections/artifacts/artifacts.ts';
import { type MemberCommandDeps, runMemberCommand } from '../credentials/run-member-command.ts';
import type { artifactsContract } from './contract.ts';
import { publishArtifact, withdrawArtifact } from './publish.ts';

export interface ArtifactsDeps extends MemberCommandDeps {
  readPool: pg.Pool;
}

export function artifactsHandlers(deps: ArtifactsDeps): Handlers<typeof artifactsContract> {
  const { readPool } = deps;
  return {
    'artifact.publish': (call) =>
      runMemberCommand(deps, call, publishArtifact(call.principal.memberId, call.sent, call.body)),

    'artifact.withdraw': (call) =>
      runMemberCommand(
        deps,
        call,
        withdrawArtifact(call.principal.memberId, call.params.artifact_id),
      ),

    'artifacts.list': async ({ query: { author_id: author, kind, cursor, limit } }) => {
      const place = toKeysetPosition('artifacts', cursor);
      if (isRefusal(place)) return place;
      const rows = await query(readPool, publishedArtifacts({ author, kind }, limit + 1, place));
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
