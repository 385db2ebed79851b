// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.ArrayList;
import java.util.List;

/**
 * Lines that another program has put into lines of its own: a syslog daemon, Kubernetes, Docker.
 *
 * <p>Runtimes of containers cut long lines. The last fault is that of a line that is not wrapped, and that of a line without its end; see
 * {@link PartialLines}.
 *
 * @param wrapper the program that has wrapped the lines
 * @param inner the format of the wrapped lines
 */
public record WrappedFormat(Wrapper wrapper, LogFormat inner) implements LogFormat {
    /** A program that wraps lines. */
    public enum Wrapper {
        /** RFC 3164 or RFC 5424, with or without a priority: {@code Oct 10 13:55:36 web1 nginx[812]: LINE}. */
        SYSLOG,
        /** A container's log as the CRI writes it: {@code 2024-10-10T13:55:36.000000000Z stdout F LINE}. */
        KUBERNETES,
        /** Docker's json-file: <code>{"log":"LINE\n","stream":"stdout","time":"..."}</code>. */
        DOCKER
    }

    @Override
    public Scanner scanner() {
        return new WrappedScanner(wrapper, inner.scanner(), inner.faults().size());
    }

    @Override
    public List<String> faults() {
        List<String> faults = new ArrayList<>(inner.faults());
        faults.add("the part before it");
        return faults;
    }
}
