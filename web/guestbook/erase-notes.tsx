interface EraseNotesProps {
  checked: boolean;
  onChecked: (checked: boolean) => void;
}

/** The choice, at the deletion of an account, what becomes of the published notes. */
export const EraseNotes = ({ checked, onChecked }: EraseNotesProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={checked}
      onChange={(event) => onChecked(event.currentTarget.checked)}
    />
    Also remove my published notes. Otherwise they stay, signed “former member”.
  </label>
);
