import { artifact } from '../../domain/artifacts/artifact.ts';
import { conflict } from '../../domain/conflict.ts';
import { memberOwner } from '../../domain/owners.ts';
import { derive } from '../../platform/eventstore/load.ts';
import { defineStream } from '../../platform/eventstore/stream.ts';
import { artifactAuthor } from '../../projections/artifacts/artifacts.ts';

export const artifactStreams = defineStream('artifact', artifact);

/** Loads a packet for its author to decide on. */
export const loadOwnArtifact = (authorId: string, id: string) =>
  derive(
    { authors: artifactAuthor(id), own: artifactStreams.load(memberOwner(authorId), id) },
    ({ authors: [row], own }) => (row && row.author_id !== authorId ? conflict('not_author') : own),
  );
