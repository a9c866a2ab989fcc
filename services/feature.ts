import type { Routes } from '../platform/http/route.ts';
import type { AccountClosure, DisablingEnding } from './membership/account-closure.ts';
import type { ExportSection } from './membership/export-section.ts';
import type { PublicationKind } from './publications/publication-kind.ts';

/** What one capability adds to the service; `features.ts` lists all of them. */
export interface Feature<Deps> {
  /** The capability's contracts with their handlers, in the order of the OpenAPI document. */
  routes: (deps: Deps) => readonly Routes[];
  /** How the capability reacts when an account is closed. */
  closure?: AccountClosure;
  /** What ends with the disabling of a membership, in one transaction with it. */
  disabling?: DisablingEnding;
  /** The capability's sections of an account export, in document order. */
  exportSections?: readonly ExportSection[];
  /** Record types that members publish without review, and moderators can remove. */
  publicationKinds?: readonly PublicationKind[];
}
