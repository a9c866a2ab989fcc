/**
 * The revisions that the service agrees to, besides 2026-07-28: those of the SDK without 2025-03-26,
 * whose servers must accept batches. Listed here, because only an MCP request loads the SDK.
 */
export const REVISIONS = ['2025-11-25', '2025-06-18', '2024-11-05', '2024-10-07'];

/** The revision without `initialize`, in which each request names the revision and the client. */
export const STATELESS_REVISION = '2026-07-28';

export const SERVER_TITLE = 'Membership, guestbook and discovery service';
