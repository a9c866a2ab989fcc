import type { SealedPlace } from '../../services/pages/site/view.ts';

/** Where a record is in the sealed log, with its proof. */
export const SealedLink = ({ sealed }: { sealed: SealedPlace }) => (
  <a href={sealed.proof} rel="nofollow">
    In the log at {sealed.leaf}
  </a>
);
