import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';

/**
 * The revisions that the service agrees to, besides 2026-07-28. A server of 2025-03-26 has to take
 * batches, which this one does not.
 */
export const REVISIONS = SUPPORTED_PROTOCOL_VERSIONS.filter(
  (revision) => revision !== '2025-03-26',
);
