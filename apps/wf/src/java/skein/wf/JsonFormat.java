// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.List;

/**
 * A format of one JSON object a line. A field's name is the path of its key, with dots between: {@code request.uri}.
 *
 * @param fields the fields; if a line has several with the same column, the first of them in this list counts
 * @param own the number of leading fields of which any one makes a line valid without URL, method and status
 */
public record JsonFormat(List<TextFormat.Field> fields, int own) implements LogFormat {
    /** Copies the list. */
    public JsonFormat {
        fields = List.copyOf(fields);
    }

    @Override
    public Scanner scanner() {
        return new JsonScanner(this);
    }

    @Override
    public List<String> faults() {
        return KeyedScanner.faults("json");
    }
}
