// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.List;

/**
 * A format of labelled values with tabs between them: {@code host:203.0.113.7<TAB>status:200}. A field's name is its label.
 *
 * @param fields where values go; of several that mean the same, the first one that a line has counts
 * @param own how many of the first fields make a line one of the log even if it names neither URL, method nor status
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
