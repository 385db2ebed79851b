// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.List;

/**
 * A format of labelled values with tabs between them: {@code host:203.0.113.7<TAB>status:200}. A field's name is its label.
 *
 * @param fields the fields; if a line has several with the same column, the first of them in this list counts
 * @param own the number of leading fields of which any one makes a line valid without URL, method and status
 */
public record LtsvFormat(List<TextFormat.Field> fields, int own) implements LogFormat {
    /** Copies the list. */
    public LtsvFormat {
        fields = List.copyOf(fields);
    }

    @Override
    public Scanner scanner() {
        return new LtsvScanner(this);
    }

    @Override
    public List<String> faults() {
        return KeyedScanner.faults("label");
    }
}
