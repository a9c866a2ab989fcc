import { randomUUID } from 'node:crypto';
import {
  type ArtifactRefusal,
  artifact,
  publish,
  supersede,
} from '../../domain/artifacts/artifact.ts';
import { contentHash } from '../../platform/body-hash.ts';
import { readFacts, streamVersion } from '../../platform/eventstore/append.ts';
import { replay } from '../../platform/eventstore/decider.ts';
import type { NewEvent } from '../../platform/eventstore/event.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import type { ReceiptBody } from '../../platform/http/schemas.ts';
import type { JsonObject } from '../../platform/http/strict-json.ts';
import { conflict, isRefusal } from '../../platform/refusal.ts';
import { artifactAuthor } from '../../projections/artifacts/artifacts.ts';
import { defineMemberCommand, type MemberCommand } from '../credentials/run-member-command.ts';
import { dropLeases } from '../publications/review-leases.ts';
import type { ArtifactBody } from './contract.ts';
import type { Packet } from './packet.ts';

interface Published {
  status: 'published';
  artifact: ArtifactBody;
  receipt: ReceiptBody;
}

interface Withdrawn {
  status: 'withdrawn';
  id: string;
  receipt: ReceiptBody;
}

/**
 * Publishes a packet and stores its fields in the order in which they were sent. `packet`, the
 * validated value, differs from `sent` only in that order and in the case of a UUID.
 */
export function publishArtifact(
  memberId: string,
  sent: JsonObject,
  packet: Packet,
): MemberCommand<201, Published, 'state_conflict'> {
  const id = randomUUID();
  const { supersedes_id: supersedesId } = packet;
  const kept = { ...sent, supersedes_id: supersedesId } as unknown as Packet;
  const hash = contentHash(kept);
  return defineMemberCommand({
    load:
      supersedesId === null ? null : readFacts(memberOwner(memberId), `artifact-${supersedesId}`),
    decide({ rows: earlier, now }) {
      const superseded =
        supersedesId === null
          ? null
          : supersede(replay(artifact, earlier), {
              type: 'SupersedeArtifact',
              by: id,
              authorId: memberId,
            });
      if (isRefusal(superseded)) return superseded;
      const published = publish(artifact.initial, {
        type: 'PublishArtifact',
        artifactId: id,
        authorId: memberId,
        kind: packet.kind,
        title: packet.title,
        contentHash: hash,
        packet: JSON.stringify(kept),
        policyVersion: packet.policy_version,
        supersedesId,
      });
      if (isRefusal(published)) return published;
      const append = (stream: string, version: number, events: readonly NewEvent[]) => ({
        owner: memberOwner(memberId),
        stream: `artifact-${stream}`,
        version,
        actor: { type: 'member' as const, id: memberId },
        events,
      });
      return {
        status: 201,
        appends: [
          append(id, 0, published),
          ...(superseded ? [append(`${supersedesId}`, streamVersion(earlier), superseded)] : []),
        ],
        body: (receipt) => ({
          status: 'published',
          artifact: {
            id,
            author_id: memberId,
            created_at: now.toISOString(),
            content_hash: hash,
            packet: kept,
          },
          receipt,
        }),
      };
    },
  });
}

export function withdrawArtifact(
  memberId: string,
  id: string,
): MemberCommand<200, Withdrawn, ArtifactRefusal> {
  return defineMemberCommand({
    load: {
      authors: artifactAuthor(id),
      events: readFacts(memberOwner(memberId), `artifact-${id}`),
    },
    decide({
      rows: {
        authors: [row],
        events,
      },
    }) {
      if (row && row.author_id !== memberId) return conflict('not_author');
      const withdrawn = artifact.decide(replay(artifact, events), {
        type: 'WithdrawArtifact',
        authorId: memberId,
        reason: 'author',
      });
      if (isRefusal(withdrawn)) return withdrawn;
      return {
        status: 200,
        appends: [
          {
            owner: memberOwner(memberId),
            stream: `artifact-${id}`,
            version: streamVersion(events),
            actor: { type: 'member', id: memberId },
            events: withdrawn,
          },
        ],
        rows: [dropLeases('artifact', [id])],
        body: (receipt) => ({ status: 'withdrawn', id, receipt }),
      };
    },
  });
}
