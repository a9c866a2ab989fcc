import type { Decider, EventsOrRefusal } from '../../platform/eventstore/decider.ts';
import type { NewEvent } from '../../platform/eventstore/event.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { conflict, wrongState } from '../conflict.ts';
import { decideRemoval, type RemovalCommand } from '../publications/removal.ts';
import type * as events from './events.ts';
import type { Kind } from './words.ts';

type ArtifactEvents = (typeof events)[keyof typeof events];

export type ArtifactState =
  | { status: 'none'; version: 0 }
  | {
      status: 'published' | 'withdrawn' | 'removed';
      /** The number of events in the stream. */
      version: number;
      artifactId: string;
      authorId: string;
      supersededBy: string | null;
      /** Whether the author has been notified of the removal. */
      told: boolean;
    };

export type ArtifactCommand =
  | {
      type: 'PublishArtifact';
      artifactId: string;
      authorId: string;
      kind: Kind;
      title: string;
      contentHash: string;
      /** The packet's JSON text. */
      packet: string;
      policyVersion: string;
      supersedesId: string | null;
    }
  /** Runs on the state of the superseded artifact; `by` is the id of its successor. */
  | { type: 'SupersedeArtifact'; by: string; authorId: string }
  | { type: 'WithdrawArtifact'; authorId: string; reason: 'author' | 'deactivated' }
  | RemovalCommand;

export type ArtifactRefusal = 'state_conflict' | 'not_found';

/** A context packet is public as soon as it is published, and never changes. */
export const artifact: Decider<ArtifactState, ArtifactCommand, ArtifactEvents, ArtifactRefusal> = {
  initial: { status: 'none', version: 0 },

  decide(state, command) {
    if (command.type === 'PublishArtifact') return publish(state, command);
    if (command.type === 'SupersedeArtifact') return supersede(state, command);
    if (state.status === 'none') return refuse('not_found');
    const artifact_id = state.artifactId;
    if (command.type === 'WithdrawArtifact') {
      if (state.authorId !== command.authorId) return conflict('not_author');
      // A removed packet can be withdrawn too; otherwise a restore would publish it again.
      if (state.status === 'withdrawn') return wrongState(state);
      const data = { artifact_id, reason: command.reason };
      return [{ type: 'ArtifactWithdrawn', data, personal: null }];
    }
    const decided = decideRemoval(state, command);
    if (decided === null) return [];
    if (isRefusal(decided)) return decided;
    switch (decided.type) {
      case 'Removed':
        return [
          {
            type: 'ArtifactRemoved',
            data: { artifact_id, ...decided.data },
            personal: decided.personal,
          },
        ];
      case 'RemovalTold':
        return [
          { type: 'ArtifactRemovalTold', data: { artifact_id, ...decided.data }, personal: null },
        ];
      case 'Restored':
        return [
          { type: 'ArtifactRestored', data: { artifact_id, ...decided.data }, personal: null },
        ];
    }
  },

  evolve(state, event: NewEvent<ArtifactEvents>) {
    if (event.type === 'ArtifactPublished')
      return {
        status: 'published',
        version: 1,
        artifactId: event.data.artifact_id,
        authorId: event.data.author_id,
        supersededBy: null,
        told: false,
      };
    if (state.status === 'none') return state;
    const version = state.version + 1;
    if (event.type === 'ArtifactSuperseded')
      return { ...state, version, supersededBy: event.data.by };
    const told = event.type === 'ArtifactRemovalTold';
    return { ...state, version, told, status: AFTER[event.type] };
  },
};

const AFTER = {
  ArtifactWithdrawn: 'withdrawn',
  ArtifactRemoved: 'removed',
  ArtifactRemovalTold: 'removed',
  ArtifactRestored: 'published',
} as const;

type CommandOf<Type> = Extract<ArtifactCommand, { type: Type }>;

export function publish(
  state: ArtifactState,
  command: CommandOf<'PublishArtifact'>,
): EventsOrRefusal<ArtifactEvents, 'state_conflict'> {
  if (state.status !== 'none') return wrongState(state);
  return [
    {
      type: 'ArtifactPublished',
      data: {
        artifact_id: command.artifactId,
        author_id: command.authorId,
        kind: command.kind,
        supersedes_id: command.supersedesId,
        policy_version: command.policyVersion,
      },
      personal: {
        title: command.title,
        content_hash: command.contentHash,
        packet: command.packet,
      },
    },
  ];
}

/**
 * An artifact has at most one successor, by the same author, so chains cannot fork. A withdrawn or
 * removed artifact can be superseded as well.
 */
export function supersede(
  state: ArtifactState,
  command: CommandOf<'SupersedeArtifact'>,
): EventsOrRefusal<ArtifactEvents, 'state_conflict'> {
  const free =
    state.status !== 'none' && state.authorId === command.authorId && state.supersededBy === null;
  if (!free) return conflict('supersedes_unavailable');
  const data = { artifact_id: state.artifactId, by: command.by };
  return [{ type: 'ArtifactSuperseded', data, personal: null }];
}
