// SPDX-License-Identifier: Apache-2.0
package skein.inspect.rt;

import clojure.lang.Compiler;
import java.lang.ref.ReferenceQueue;
import skein.rt.block.Failures;
import skein.rt.block.Frame;
import skein.rt.block.Sites;

/** The record of a block of Skein itself, such as a pipeline's. Its place in the source is the program's call that made the block. */
final class OwnEntry extends Entry {
    private static final StackWalker STACK = StackWalker.getInstance();

    static {
        Failures.addMachinery("skein.inspect.rt."); // its own frames are no call of the program
    }

    private static final ClassValue<Boolean> OURS = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return Failures.isMachinery(type.getName());
        }
    };

    private final StackTraceElement caller; // null if it is not known

    OwnEntry(Frame frame, ReferenceQueue<Frame> queue, long id, Entry parent, int now) {
        super(frame, queue, id, parent, now);
        caller = STACK.walk(frames -> frames.filter(f -> !Failures.isMachinery(f.getClassName()))
                .findFirst()
                .map(StackWalker.StackFrame::toStackTraceElement)
                .orElse(parent instanceof OwnEntry own ? own.caller : null));
    }

    /** Returns whether the block is one of Skein's. */
    static boolean isFor(Frame frame) {
        return OURS.get(frame.body().getClass());
    }

    @Override
    public Sites.Site site(int state) {
        Sites.Site site = super.site(state);
        if (site == null || caller == null) return site;
        String form = Compiler.demunge(caller.getClassName()) + ", in "
                + site.file().replaceFirst(".*[/\\\\]", "") + ":" + site.line() + " " + site.form();
        return new Sites.Site(caller.getFileName(), site.operation(), caller.getLineNumber(), -1, form, site.inTry());
    }
}
