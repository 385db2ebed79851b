// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.List;

/**
 * The W3C's extended log file format, as IIS and CloudFront write it: a line {@code #Fields: NAME ...} names the fields of the lines
 * after it. Values are separated by tabs if a line has any, else by spaces, and may be quoted. The fields for day and time together
 * are the time of a line.
 *
 * @param fields the fields, by their names in #Fields; if a line has several with the same column, the first of them in this list counts
 * @param header the lines that begin with # before the first line with values, for workers that don't see them
 */
public record W3cFormat(List<TextFormat.Field> fields, List<String> header) implements LogFormat {
    /** Copies the lists. */
    public W3cFormat {
        fields = List.copyOf(fields);
        header = List.copyOf(header);
    }

    @Override
    public Scanner scanner() {
        return new W3cScanner(this);
    }

    @Override
    public List<String> faults() {
        return KeyedScanner.faults("fields");
    }
}
