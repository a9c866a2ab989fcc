import { type Sql, sql } from '../services/eventstore/sql.ts';

/** A row where the artifact is public: where there are no artifacts, none is. */
export function publicArtifact(artifactId: string | null): Sql {
  return sql`SELECT ${artifactId}::uuid AS artifact_id WHERE false`;
}
